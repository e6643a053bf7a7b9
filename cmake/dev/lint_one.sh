#!/usr/bin/env bash
# lint_one.sh FOLDER SOURCE runs clang-tidy on a source of this tree. FOLDER/keys has a line
# "KEY SOURCE" for each source (see lint_keys in lint.sh). If the source passes, the script records
# its key.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/dev/record.sh

folder=$1 source=$2
status=0
# The build may use GCC. GCC knows warnings that clang-tidy does not know, and its -Wsign-conversion
# reports less.
found=$(clang-tidy --quiet -p build/tidy --extra-arg=-Wno-unknown-warning-option \
  --extra-arg=-Wno-sign-conversion "$source" 2>&1) || status=1
[[ -z $found ]] || sed '/^[0-9]* warnings\{0,1\} generated\.$/d' <<<"$found"
((status == 0)) || exit 1
note_passed "lint/$source" "$(sed -n "s|^\([0-9a-f]*\) $source\$|\1|p" "$folder/keys")"
