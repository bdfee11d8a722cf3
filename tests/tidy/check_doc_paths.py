"""The files that our pages name are there, and their links lead somewhere."""

import glob
import posixpath
import re

from tree import Finding

TOP_FOLDERS = r"(?:src|tests|bench|docs|web|scripts|cmake|\.ci)"
PATH = re.compile(rf"`({TOP_FOLDERS}/[^\s`]*)`")
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)")
VARIABLE_PART = re.compile(r"NAME|ISA|FILE|<")  # "src/model/NAME.cpp": a rule, not a file


def run(tree):
    for page in tree.paths:
        if not page.endswith(".md"):
            continue
        for number, line in enumerate(tree.text(page).splitlines(), 1):
            for path in PATH.findall(line):
                path = re.sub(r":\d+$", "", path)
                if not VARIABLE_PART.search(path) and not matches(tree, path):
                    yield Finding(f"{page}:{number}", f"{path} is not there")
            for link in LINK.findall(line):
                target = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
                if not tree.exists(target):
                    yield Finding(f"{page}:{number}", f"the link {link} leads nowhere")


def matches(tree, path):
    return bool(glob.glob(str(tree.root / path)))
