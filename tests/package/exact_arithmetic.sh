#!/usr/bin/env bash
# exact_arithmetic.sh SOURCE BUILD ARGUMENT...: if users compile with flags that change arithmetic,
# rota's kernels are compiled and its libraries are linked without them.
set -euo pipefail
source=$1 build=$2
cd "$(dirname "$0")"

for flags in -ffast-math -Ofast "-fassociative-math -fno-signed-zeros -fno-trapping-math" \
  -ffinite-math-only; do
  ./configure_afresh.sh "$source" "$build" "${@:3}" -DCMAKE_CXX_FLAGS="$flags"
  line=$(sed -n 's/^ *"command": "\(.*\) -o .*kernels\/cpu\/scalar\.cpp.*/\1/p' \
    "$build/compile_commands.json")
  [[ $line == *"$flags"* || $flags == -Ofast ]]
  read -ra words <<<"$line"
  words=("${words[@]//\\\"/\"}")
  if macros=$(cd "$build" && "${words[@]}" -E -dM "$source/lib/kernels/lanes.h" 2>&1) &&
    ! grep -E '__FAST_MATH__|__(ASSOCIATIVE|RECIPROCAL)_MATH__|__FINITE_MATH_ONLY__ 1' <<<"$macros"
  then continue; fi
  echo "with $flags, the kernels are compiled by: $line" >&2
  exit 1
done
