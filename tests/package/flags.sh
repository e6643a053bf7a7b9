#!/usr/bin/env bash
# flags.sh ROTARUN MAN COMPLETION: the manual page and the completion know the flags that rotarun
# has, and no others.
set -euo pipefail
rotarun=$1 man=$2 completion=$3

flags() { grep -oE -e '--[a-z][a-z-]*' | sort -u; }
help=$("$rotarun" --help | sed -nE 's/^ *(-[a-zA-Z], )?(--[a-z-]+)( .*)?$/\2/p' | flags)
[[ -n $help ]]
# In the manual page every hyphen that is to be typed has a backslash.
diff <(echo "$help") <(grep -v '^\.\\"' "$man" | sed 's/\\-/-/g' | flags) ||
  { echo "--help (<) and the manual page (>) differ" >&2; exit 1; }
diff <(echo "$help") <(flags <"$completion") ||
  { echo "--help (<) and the completion (>) differ" >&2; exit 1; }
