# shellcheck shell=bash
# Installs what scripts/packages.txt lists, if it is missing. Sourced by start, check and .ci/run.

# Prints the packages of the given groups that are neither installed nor needed, one a line.
missing_packages() {
  local list=$1 group package command
  shift
  local -A wanted=() installed=()
  for group in "$@"; do wanted[$group]=1; done

  local -a packages=()
  while read -r group package command; do
    [[ -n $group && $group != \#* && -n ${wanted[$group]:-} ]] || continue
    if [[ -n $command ]] && type -P "$command" > /dev/null; then continue; fi
    packages+=("$package")
  done < "$list"
  ((${#packages[@]} > 0)) || return 0

  if type -P dpkg-query > /dev/null; then
    local status
    while read -r status package; do
      [[ $status != installed ]] || installed[$package]=1
    done < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2> /dev/null)
  fi
  for package in "${packages[@]}"; do
    [[ -n ${installed[$package]:-} ]] || printf '%s\n' "$package"
  done
}

# Says what to install by hand, and fails.
cannot_install() {
  local why=$1
  shift
  printf 'evener: cannot install packages: %s\n' "$why"
  printf '  missing: %s\n' "$*"
  printf '  install them, or what your system calls them, and run this again (with --no-install,\n'
  printf '  if they are there in a form that dpkg does not know)\n'
  return 1
} >&2

# Installs the missing packages of the given groups; silent and fast if there are none.
install_packages() {
  local root=$1
  shift
  local -a missing
  mapfile -t missing < <(missing_packages "$root/scripts/packages.txt" "$@")
  ((${#missing[@]} > 0)) || return 0

  if ! type -P apt-get > /dev/null; then
    cannot_install 'there is no apt-get: this is not Debian, Ubuntu or a relative' "${missing[@]}"
    return 1
  fi
  local -a as_root=()
  if (($(id -u) != 0)); then
    if ! type -P sudo > /dev/null; then
      cannot_install 'this is not root and there is no sudo' "${missing[@]}"
      return 1
    fi
    as_root=(sudo)
  fi

  printf 'installing %s\n' "${missing[*]}" >&2
  local -a apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get -qq -o DPkg::Lock::Timeout=120)
  # A source that cannot be reached is no reason to stop: the others may have all that is missing.
  "${apt[@]}" update < /dev/null >&2 || true
  if ! "${apt[@]}" install -y --no-install-recommends "${missing[@]}" < /dev/null >&2; then
    cannot_install 'apt-get failed, see above' "${missing[@]}"
    return 1
  fi
}
