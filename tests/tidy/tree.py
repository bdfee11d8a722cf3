"""The project's files as the checks see them."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

IGNORED_FOLDERS = {".git", ".cache", "build", "node_modules", "__pycache__"}
CXX_SUFFIXES = {".h", ".cpp", ".inl"}


@dataclass(frozen=True)
class Finding:
    where: str  # "src/base/log.cpp:12"
    what: str

    def __str__(self):
        return f"{self.where}: {self.what}"


class Skip(Exception):
    """What a check needs is not here; the message says what. Not a failure, and not a success."""


class Tree:
    """All files below `root` that somebody wrote. Paths are relative to it, with `/`."""

    def __init__(self, root, build=None):
        self.root = Path(root)
        self.build = Path(build) if build else None
        self.paths = sorted(self._walk())
        self._texts = {}

    def _walk(self):
        for folder, subfolders, names in os.walk(self.root):
            subfolders[:] = [name for name in subfolders if name not in IGNORED_FOLDERS]
            for name in names:
                path = Path(folder, name)
                if path.is_file():
                    yield path.relative_to(self.root).as_posix()

    def under(self, *folders):
        """The paths below any of the folders ("src", "tests/data")."""
        starts = tuple(folder.rstrip("/") + "/" for folder in folders)
        return [path for path in self.paths if path.startswith(starts)]

    def cxx(self, *folders):
        return [path for path in self.under(*folders) if Path(path).suffix in CXX_SUFFIXES]

    def exists(self, path):
        return (self.root / path).exists()

    def text(self, path):
        """Its text; None if it is not text."""
        if path not in self._texts:
            data = (self.root / path).read_bytes()
            try:
                self._texts[path] = None if b"\0" in data else data.decode("utf-8")
            except UnicodeDecodeError:
                self._texts[path] = None
        return self._texts[path]

    def table(self, path, num_columns):
        """The rows of a `|`-separated table of tests/tidy, as (line number, columns)."""
        rows = []
        for number, line in enumerate((self.text(path) or "").splitlines(), 1):
            if line.strip() and not line.startswith("#"):
                columns = [column.strip() for column in line.split("|")]
                if len(columns) != num_columns:
                    raise ValueError(f"{path}:{number}: {num_columns} columns are needed")
                rows.append((number, columns))
        return rows


INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def includes(text):
    """(line number, name) of every #include "name"."""
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match.group(1)


TOKEN = re.compile(
    r"""//[^\n]*                                    # comments
      | /\*.*?\*/
      | R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"  # strings
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'         # characters, not 1'000
    """,
    re.VERBOSE | re.DOTALL,
)


def without_comments_and_strings(text):
    """C++ text with these blanked out; every line keeps its number."""

    def blank(match):
        token = match.group()
        lines = "\n" * token.count("\n")
        return '""' + lines if token[0] in "\"R" else lines or " "

    return TOKEN.sub(blank, text)
