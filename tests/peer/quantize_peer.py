"""Logits of each quantised file by Evener and by the peer: quantize_peer.py EVENER SHARED."""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

# Both engines compute from the same weights, each rounding activations in its own way: largest
# difference in a row, median over rows. Logits have a deviation of about 3.
BOUNDS = {"F16": 0.03, "BF16": 0.1}
BOUND = 0.35
TYPES = ("F16", "BF16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0", "IQ4_NL", "IQ4_XS", "MXFP4", "IQ3_S", "IQ3_XXS")


def must(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def difference(evener, shared, model, kind, tokens, folder):
    path, ours, theirs = (os.path.join(folder, name) for name in ("q.gguf", "ours.npy", "theirs.npy"))
    must(evener, "quantize", model, path, kind, "--force")
    must(evener, "logits", path, "--tokens", tokens, "--out", ours, "--kv", "f32")
    peer = os.path.join(shared, "peer", "peer.py")
    must(sys.executable, peer, "logits", path, "--tokens", tokens, "--out", theirs, "--kv", "f32", "--flash-attn", "off")
    return float(np.median(np.abs(np.load(ours) - np.load(theirs)).max(axis=1)))


def main():
    evener, shared = sys.argv[1:]
    tokens = ",".join(map(str, np.load(os.path.join(shared, "models", "text", "valid.tokens.npy"))[:64]))
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name in ("tiny35-f16", "tiny35moe-f16"):
            for kind in TYPES:
                got = difference(evener, shared, os.path.join(shared, "models", name + ".gguf"), kind, tokens, folder)
                bound = BOUNDS.get(kind, BOUND)
                failed = failed or not got <= bound
                print(json.dumps({"model": name, "type": kind, "difference": round(got, 5), "bound": bound}), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
