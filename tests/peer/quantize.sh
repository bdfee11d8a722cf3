#!/usr/bin/env bash
# Files of `evener quantize` in llama.cpp: they load, and give our logits. Exit status 1 if any does
# not. EVENER_PROGRAM names the program to test (default: the release build's).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/peer/install.sh
source "$here/install.sh"
program=${EVENER_PROGRAM:-$here/../../build/release/evener}
shared=$here/../../../shared

if [[ ! -f $shared/peer/peer.py ]]; then
  printf 'quantize.sh: skipped: the driver of the peer is not in this checkout\n'
  exit 0
fi
install_peers node-llama-cpp@3.22.1
PEER_LLAMA_DIR=$scratch/node_modules exec /usr/bin/python3 "$here/quantize_peer.py" "$program" "$shared"
