"""Every header is included, every source file is built, every fixture is read by somebody."""

import fnmatch
import posixpath
import re

from tree import Finding, includes

READERS = "tests/tidy/data_readers.txt"
CODE_FOLDERS = ("src", "tests", "bench")
GLOBS_ITS_FOLDER = re.compile(
    r"\bevener_(?:module|tests)\s*\(|\bGLOB(?:_RECURSE)?\b[^)]*/\*\.cpp\b")


def included_paths(tree):
    """Paths that some #include may mean: from src/, from tests/, from bench/ or beside the file."""
    found = set()
    for path in tree.cxx(*CODE_FOLDERS):
        for _, name in includes(tree.text(path) or ""):
            found.update(f"{folder}/{name}" for folder in CODE_FOLDERS)
            found.add(posixpath.normpath(posixpath.join(posixpath.dirname(path), name)))
    return found


def is_put_before(tree, path):
    """Whether the folder's CMakeLists.txt names the header behind the compiler's -include."""
    lists = posixpath.join(posixpath.dirname(path), "CMakeLists.txt")
    text = tree.text(lists) if tree.exists(lists) else ""
    return re.search(rf"-include;\S*/{re.escape(posixpath.basename(path))}\b", text) is not None


def is_built(tree, path):
    """Whether the CMakeLists.txt of the file's folder, or one above, globs or names it, or another
    one names its whole path or, for a fuzz target, its name."""
    name = posixpath.basename(path)
    folder = posixpath.dirname(path)
    while folder:
        lists = f"{folder}/CMakeLists.txt"
        text = tree.text(lists) if tree.exists(lists) else ""
        if GLOBS_ITS_FOLDER.search(text) or re.search(rf"\b{re.escape(name)}", text):
            return True
        folder = posixpath.dirname(folder)

    target = re.escape(name.removesuffix("_fuzz.cpp"))
    named = re.compile(rf"{re.escape(path)}\b|\bevener_fuzz\s*\(\s*{target}\b")
    return any(named.search(tree.text(other)) for other in tree.under(*CODE_FOLDERS)
               if other.endswith("/CMakeLists.txt"))


def unread_data(tree):
    rows = tree.table(READERS, 2)
    sources = "\n".join(tree.text(path) or "" for path in tree.under("tests", "bench", "src")
                        if not path.startswith(("tests/data/", "tests/tidy/")))
    matched = set()
    for path in tree.under("tests/data"):
        inner = path[len("tests/data/"):]
        rows_here = [line for line, (pattern, _) in rows if fnmatch.fnmatchcase(inner, pattern)]
        matched.update(rows_here)
        fuzz_target = re.match(r"fuzz/(\w+)/", inner)
        name = posixpath.basename(inner)
        if rows_here or name in sources or f'"{name.split(".")[0]}"' in sources:
            continue
        if fuzz_target and tree.exists(f"tests/fuzz/{fuzz_target.group(1)}_fuzz.cpp"):
            continue
        yield Finding(path, f"no test names it, and no row of {READERS} covers it")
    for line, (pattern, reader) in rows:
        if line not in matched:
            yield Finding(f"{READERS}:{line}", f"nothing in tests/data matches {pattern}")
        if not tree.exists(reader):
            yield Finding(f"{READERS}:{line}", f"the reader {reader} is not there")


def run(tree):
    included = included_paths(tree)
    for path in tree.cxx(*CODE_FOLDERS):
        if path.endswith(".cpp"):
            if not is_built(tree, path):
                yield Finding(path, "no CMakeLists.txt builds it")
        elif path not in included and not is_put_before(tree, path):
            yield Finding(path, "nothing includes it")
    yield from unread_data(tree)
