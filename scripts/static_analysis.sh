#!/usr/bin/env bash
# clang-tidy over the source files of a configured build folder, those changed last first, until a
# budget is used up.    scripts/static_analysis.sh build/tidy [SECONDS]
set -euo pipefail
build=$1
budget=${2:-86400}

# The files of src/ in the order of their last change, newest first.
by_last_change() {
  git log --format= --name-only --diff-filter=AMR -- 'src/*.cpp' | awk '!seen[$0]++' |
    while read -r file; do [[ ! -f $file ]] || printf '%s\n' "$file"; done
}

mapfile -t files < <(by_last_change)
jobs=$(nproc)
done_count=0
while ((done_count < ${#files[@]} && SECONDS < budget)); do
  batch=("${files[@]:done_count:jobs}")
  if ! printf '%s\0' "${batch[@]}" |
    xargs -0 -P "$jobs" -n 1 clang-tidy-19 -p "$build" --quiet 2> "$build/clang-tidy.log"; then
    grep -v 'warnings generated' "$build/clang-tidy.log" || true
    exit 1
  fi
  done_count=$((done_count + ${#batch[@]}))
done
printf 'clang-tidy: %s of %s files read, nothing found\n' "$done_count" "${#files[@]}"
