# shellcheck shell=bash
# Configures and builds build/release. Sourced by start and check.

readonly gcc_major_min=12 cmake_version_min=3.25

# Exports CXX: the caller's own, or the first g++ that is new enough.
choose_compiler() {
  [[ -z ${CXX:-} ]] || return 0
  local compiler version seen=''
  for compiler in g++ g++-14 g++-13 g++-12; do
    type -P "$compiler" > /dev/null || continue
    version=$("$compiler" -dumpversion)
    if ((${version%%.*} >= gcc_major_min)); then
      export CXX=$compiler
      return 0
    fi
    seen="$seen, $compiler is version $version"
  done
  printf 'evener: cannot choose a compiler: Evener needs g++ %s or newer%s\n' \
    "$gcc_major_min" "${seen:-, and there is none}" >&2
  printf '  install g++-%s or newer, or name another compiler in CXX\n' "$gcc_major_min" >&2
  return 1
}

# Fails if cmake is too old for our presets.
check_cmake() {
  local version older
  version=$(cmake --version | head -n 1 | tr -dc '0-9.')
  older=$(printf '%s\n' "$cmake_version_min" "$version" | sort -V | head -n 1)
  [[ $older != "$cmake_version_min" ]] || return 0
  printf 'evener: cannot configure: CMake is version %s, and %s or newer is needed\n' \
    "$version" "$cmake_version_min" >&2
  return 1
}

# Whether build/release was configured after the presets were last changed, with EVENER_TESTS as
# asked. ninja itself sees a change of any CMakeLists.txt.
is_configured() {
  local build=$1 tests=$2
  [[ -f $build/build.ninja && ! CMakePresets.json -nt $build/CMakeCache.txt ]] || return 1
  [[ $tests != ON ]] || grep -q '^EVENER_TESTS:BOOL=ON$' "$build/CMakeCache.txt"
}

# configure OFF|ON: with the tests or without. OFF leaves a build folder that has them as it is, so
# that start and check share one folder and neither undoes the other's work.
configure() {
  local tests=$1
  ! is_configured build/release "$tests" || return 0
  check_cmake
  choose_compiler
  cmake --preset release -DEVENER_TESTS="$tests"
  touch build/release/CMakeCache.txt
}
