"""Nothing in the tree is true on one machine only: no developer's folder, no registry's host."""

import re

from tree import Finding

# Split, so that this file may be searched too.
FOLDERS = ["wo" + "rk", "ro" + "ot", "fa" + "rm"]
HOSTS = [r"deb\." + r"debian\.org", r"archive\.ubu" + r"ntu\.com", r"registry\.npm" + "js",
         r"files\.python" + "hosted", r"py" + r"pi\.org", r"proxy\.gol" + r"ang\.org",
         r"static\.crates\." + "io"]
STRANGER = re.compile(r"(?<![\w.}\]-])/(?:" + "|".join(FOLDERS) + r")/|" + "|".join(HOSTS))


def run(tree):
    for path in tree.paths:
        for number, line in enumerate((tree.text(path) or "").splitlines(), 1):
            match = STRANGER.search(line)
            if match:
                yield Finding(f"{path}:{number}", f"names {match.group()}")
