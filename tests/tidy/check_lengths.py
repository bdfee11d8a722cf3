"""Files over 800 lines say why at their top; functions over 70 lines may not become more."""

import shutil
import subprocess

from tree import Finding, Skip

FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 70
RATCHET = "tests/tidy/long_functions.txt"


def long_files(tree):
    for path in tree.cxx("src", "tests", "bench"):
        lines = (tree.text(path) or "").splitlines()
        if len(lines) > FILE_LINES_MAX and not says_why(lines[0]):
            yield Finding(path, f"{len(lines)} lines, and the first is no comment that says why")


def says_why(line):
    return line.startswith("//") and len(line.split()) > 4


def function_lengths(tree):
    """(lines, path, name) of every function of src/ and bench/."""
    if not shutil.which("ctags"):
        raise Skip("ctags is not installed: the functions were not measured")
    paths = tree.cxx("src", "bench")
    result = subprocess.run(
        ["ctags", "-f", "-", "--languages=C++", "--langmap=C++:+.inl.h", "--kinds-C++=f",
         "--sort=no", "--excmd=number", "--fields=ne", "-L", "-"],
        input="\n".join(paths), cwd=tree.root, check=True, capture_output=True, text=True)
    for line in result.stdout.splitlines():
        name, path, _, *fields = line.split("\t")
        values = dict(field.split(":", 1) for field in fields if ":" in field)
        if "end" in values:
            yield int(values["end"]) - int(values["line"]) + 1, path, name


def long_functions(tree):
    lengths = sorted(function_lengths(tree), reverse=True)
    too_long = [entry for entry in lengths if entry[0] > FUNCTION_LINES_MAX]
    limit = int(tree.table(RATCHET, 1)[0][1][0])
    if len(too_long) > limit:
        yield Finding(RATCHET, f"{len(too_long)} functions are over {FUNCTION_LINES_MAX} lines, "
                               f"{limit} may be")
        for lines, path, name in too_long:
            yield Finding(path, f"{name} has {lines} lines")
    elif len(too_long) < limit:
        print(f"{RATCHET} may be lowered to {len(too_long)}")
    if lengths:
        print(f"{len(lengths)} functions: median {lengths[len(lengths) // 2][0]} lines, "
              f"90 % have at most {lengths[len(lengths) // 10][0]}, longest {lengths[0][0]}")


def run(tree):
    yield from long_files(tree)
    yield from long_functions(tree)
