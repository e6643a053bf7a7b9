#!/usr/bin/env bash
# lint_one.sh FOLDER SOURCE runs clang-tidy over a source of this tree and notes that it has passed,
# by its key in FOLDER/keys.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/dev/record.sh

folder=$1 source=$2
status=0
# The build may be GCC's, which knows warnings that clang-tidy does not, and means less by one of them.
found=$(clang-tidy --quiet -p build/tidy --extra-arg=-Wno-unknown-warning-option \
  --extra-arg=-Wno-sign-conversion "$source" 2>&1) || status=1
[[ -z $found ]] || sed '/^[0-9]* warnings\{0,1\} generated\.$/d' <<<"$found"
((status == 0)) || exit 1
note_passed "lint/$source" "$(sed -n "s|^\([0-9a-f]*\) $source\$|\1|p" "$folder/keys")"
