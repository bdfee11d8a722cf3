"""Arrows between the folders of src/: as arrows.txt allows, as CMake declares, and no circle."""

import re

from tree import Finding, includes

TABLE = "tests/tidy/arrows.txt"
DECLARATION = re.compile(r"evener_module\s*\(\s*(\w+)([^)]*)\)")


def allowed_arrows(tree):
    """folder -> set of folders that it may include."""
    rows = [columns for _, columns in tree.table(TABLE, 3)]
    folders = {row[0] for row in rows}
    arrows = {}
    for folder, _, may_include in rows:
        words = set(may_include.split())
        arrows[folder] = folders - {folder} if words == {"all"} else words | {"base"} - {folder}
    return arrows


def declared_arrows(tree):
    """folder -> set of folders after DEPENDS in its evener_module() line."""
    arrows = {}
    for path in tree.under("src"):
        if path.count("/") != 2 or not path.endswith("/CMakeLists.txt"):
            continue
        text = re.sub(r"#.*", "", tree.text(path))
        for name, arguments in DECLARATION.findall(text):
            depends = re.search(r"\bDEPENDS\b(.*?)(?:\bLIBRARIES\b|$)", arguments, re.DOTALL)
            arrows[name] = set(depends.group(1).split()) if depends else set()
    return arrows


def find_circle(arrows):
    """The folders of one circle, its first one repeated at its end; None if there is none."""
    done = set()

    def visit(folder, path):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return None
        for target in sorted(arrows.get(folder, ())):
            circle = visit(target, path + [folder])
            if circle:
                return circle
        done.add(folder)
        return None

    for folder in sorted(arrows):
        circle = visit(folder, [])
        if circle:
            return circle
    return None


def judge_declarations(allowed, declared):
    for folder, targets in sorted(declared.items()):
        where = f"src/{folder}/CMakeLists.txt"
        if folder not in allowed:
            yield Finding(where, f"folder {folder} has no row in {TABLE}")
            continue
        for target in sorted(targets - allowed[folder]):
            yield Finding(where, f"{folder} may not depend on {target}: see {TABLE}")


def folder_of(path):
    """The folder of src/ that a file belongs to. main.cpp lies outside the library of cli."""
    return "cli" if path == "src/main.cpp" else path.split("/")[1]


def judge_include(tree, path, name, allowed, declared):
    """Why this #include is wrong, or None."""
    folder = folder_of(path)
    target = name.split("/")[0]
    if target not in allowed or "/" not in name:
        return f'"{name}" does not start with a folder of src/'
    if not tree.exists(f"src/{name}"):
        return f'"{name}" is not there'
    if target == folder or target == "base":
        return None
    if target not in allowed.get(folder, ()):
        return f"{folder} may not include {target}: see {TABLE}"
    if folder in declared and target not in declared[folder]:
        return f"{target} is not in the DEPENDS of src/{folder}/CMakeLists.txt"
    return None


def run(tree):
    allowed = allowed_arrows(tree)
    declared = declared_arrows(tree)
    yield from judge_declarations(allowed, declared)

    arrows = {folder: set(targets) for folder, targets in declared.items()}
    for path in tree.cxx("src"):
        folder = folder_of(path)
        if folder not in allowed:
            yield Finding(path, f"folder {folder} has no row in {TABLE}")
            continue
        for line, name in includes(tree.text(path)):
            complaint = judge_include(tree, path, name, allowed, declared)
            if complaint:
                yield Finding(f"{path}:{line}", complaint)
            target = name.split("/")[0]
            if target in allowed and target != folder:
                arrows.setdefault(folder, set()).add(target)

    for name, graph in ((TABLE, allowed), ("src", arrows)):
        circle = find_circle(graph)
        if circle:
            yield Finding(name, "a circle: " + " -> ".join(circle))
