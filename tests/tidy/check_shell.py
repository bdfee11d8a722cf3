"""shellcheck has no complaint about our shell scripts."""

import shutil
import subprocess

from tree import Finding, Skip


def is_shell(tree, path):
    text = tree.text(path) or ""
    return path.endswith(".sh") or text.startswith(("#!/usr/bin/env bash", "#!/bin/bash"))


def run(tree):
    if not shutil.which("shellcheck"):
        raise Skip("shellcheck is not installed")
    paths = [path for path in tree.paths
             if not path.startswith("tests/data/") and is_shell(tree, path)]
    if not paths:
        return
    result = subprocess.run(["shellcheck", "--external-sources", "--format=gcc", *paths],
                            cwd=tree.root, capture_output=True, text=True)
    for line in result.stdout.splitlines():
        where, _, what = line.partition(": ")
        yield Finding(where, what)
