"""Checks the tree itself: python3 tidy.py CHECK [--root DIR] [--build DIR], or `all`.

Exit status: 0 nothing found, 1 findings (one a line on stdout), 77 not checked, and why.
"""

import argparse
import sys
from pathlib import Path

import check_arrows
import check_banned_calls
import check_dead_files
import check_doc_paths
import check_lengths
import check_shell
import check_strangers
import check_weak_symbols
from tree import Skip, Tree

# tests/tidy/CMakeLists.txt has the same names.
CHECKS = {
    "arrows": check_arrows,
    "weak_symbols": check_weak_symbols,
    "banned_calls": check_banned_calls,
    "dead_files": check_dead_files,
    "doc_paths": check_doc_paths,
    "lengths": check_lengths,
    "strangers": check_strangers,
    "shell": check_shell,
}
EXIT_SKIPPED = 77


def run_check(name, tree):
    status = 0
    try:
        for finding in CHECKS[name].run(tree):
            print(finding)
            status = 1
    except Skip as reason:
        print(f"{name}: not checked: {reason}")
        return status or EXIT_SKIPPED
    return status


def main():
    parser = argparse.ArgumentParser(description="Checks the tree itself.")
    parser.add_argument("check", choices=[*CHECKS, "all"])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--build", type=Path)
    arguments = parser.parse_args()

    tree = Tree(arguments.root, arguments.build)
    names = list(CHECKS) if arguments.check == "all" else [arguments.check]
    statuses = [run_check(name, tree) for name in names]
    return 1 if 1 in statuses else max(statuses)


if __name__ == "__main__":
    sys.exit(main())
