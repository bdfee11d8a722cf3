#!/usr/bin/env bash
# Converts a trained Hugging Face folder in each layout and has llama.cpp (the npm package
# node-llama-cpp) go on with a text, token by token: it must load the file, cut the text into the
# same tokens and choose the same ones as Evener does from the folder itself. EVENER_PROGRAM names
# the program to test (default: the release build's). The folders are not part of the tree; without
# them there is nothing to do.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/peer/install.sh
source "$here/install.sh"
program=${EVENER_PROGRAM:-$here/../../build/release/evener}
models=${EVENER_TRAINED_MODELS:-$here/../../../shared/models}

if [[ ! -d $models/tiny35-hf ]]; then
  printf 'convert.sh: no trained folders: nothing to convert\n'
  exit 0
fi
if [[ ! -x $program ]]; then
  printf 'convert.sh: %s is missing: build it first\n' "$program" >&2
  exit 1
fi
install_peers node-llama-cpp@3.22.1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for layout in hf fp8 gptq awq; do
  "$program" convert "$models/tiny35-$layout" "$work/$layout.gguf"
  node "$here/convert_peer.mjs" "$scratch" "$program" "$models/tiny35-$layout" "$work/$layout.gguf"
done
