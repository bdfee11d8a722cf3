"""No weak symbol in the objects of the folder whose files are compiled for one instruction set.

An inline function of a shared header compiled with, say, AVX-512 flags is a weak symbol, and the
linker may keep that copy for the whole program, which then dies on a machine without AVX-512.
"""

import re
import subprocess

from tree import Finding, Skip

FOLDER = "device/cpu/kernels"
WEAK = {"W": "weak function", "V": "weak object", "u": "unique object"}


def is_sanitized(build):
    cache = build / "CMakeCache.txt"
    return cache.exists() and bool(
        re.search(r"^EVENER_SANITIZE:STRING=\S+", cache.read_text(), re.MULTILINE))


def run(tree):
    sources = [path for path in tree.under(f"src/{FOLDER}") if path.endswith(".cpp")]
    if not sources:
        raise Skip(f"src/{FOLDER} has no source files")
    if tree.build is None:
        raise Skip("no build folder was named")
    if is_sanitized(tree.build):
        raise Skip("a sanitizer adds weak symbols of its own")
    for source in sources:
        name = source.split("/")[-1]
        objects = sorted(tree.build.rglob(f"evener_device.dir/cpu/kernels/{name}.o"))
        if not objects:
            raise Skip(f"{source} is not built")
        for path in objects:
            symbols = subprocess.run(["nm", "--defined-only", "--demangle", "--format=bsd", path],
                                     check=True, capture_output=True, text=True).stdout
            yield from judge(source, symbols)


def judge(source, symbols):
    """symbols: what `nm --defined-only --format=bsd` prints."""
    for line in symbols.splitlines():
        match = re.match(r"[0-9a-f]+ ([A-Za-z]) (.+)$", line)
        if match and match.group(1) in WEAK:
            yield Finding(source, f"{WEAK[match.group(1)]} {match.group(2)}")
