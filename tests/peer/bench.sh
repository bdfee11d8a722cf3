#!/usr/bin/env bash
# `evener bench` against another project's engine: npm node-llama-cpp behind a small server. EVENER names
# the program to test (default: the release build's).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/peer/install.sh
source "$here/install.sh"
evener=${EVENER:-$here/../../build/release/evener}

if [[ ! -x $evener ]]; then
  printf 'bench.sh: %s is missing: build it first\n' "$evener" >&2
  exit 1
fi
install_peers node-llama-cpp@3.22.1 @huggingface/jinja@0.5
exec node "$here/bench_peer.mjs" "$evener" "$scratch" "$here/../../models/evener-tiny35-q8_0.gguf"
