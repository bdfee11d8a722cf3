#!/usr/bin/env bash
# The official openai client for JavaScript against `evener serve` with the bundled model. EVENER
# names the program to test (default: the release build's).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/peer/install.sh
source "$here/install.sh"
evener=${EVENER:-$here/../../build/release/evener}

if [[ ! -x $evener ]]; then
  printf 'openai.sh: %s is missing: build it first\n' "$evener" >&2
  exit 1
fi
install_peers openai@6
exec node "$here/openai_client.mjs" "$evener" "$scratch"
