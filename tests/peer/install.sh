# shellcheck shell=bash
# install_peers PACKAGE...: installs npm packages into one scratch folder, once, and sets `scratch` to
# it. Sourced by the scripts of this folder. EVENER_PEER_DIR names the folder (default: build/peer).
scratch=${EVENER_PEER_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/peer}

install_peers() {
  local package
  local -a missing=()
  mkdir -p "$scratch"
  [[ -f $scratch/package.json ]] || printf '{"private": true}\n' > "$scratch/package.json"
  for package in "$@"; do
    [[ -d $scratch/node_modules/${package%@*} ]] || missing+=("$package")
  done
  ((${#missing[@]} == 0)) ||
    (cd "$scratch" && npm install --ignore-scripts --no-audit --no-fund --silent "${missing[@]}")
}
