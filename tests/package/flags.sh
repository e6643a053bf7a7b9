#!/usr/bin/env bash
# flags.sh ROTARUN MAN RENDER_MAN COMPLETION: the manual pages and the completion know the flags that
# rotarun and rotarun render have, and no others.
set -euo pipefail
rotarun=$1 man=$2 render_man=$3 completion=$4

flags() { grep -oE -e '--[a-z][a-z-]*' | sort -u; }
flags_of() { sed -nE 's/^ *(-[a-zA-Z], )?(--[a-z-]+)( .*)?$/\2/p' <<<"$1" | flags; }
help=$(flags_of "$("$rotarun" --help)")
render_help=$(flags_of "$("$rotarun" render --help)")
[[ -n $help && -n $render_help ]]

# compare FLAGS PAGE: in a manual page every hyphen that is to be typed has a backslash.
compare() {
  diff <(echo "$1") <(grep -v '^\.\\"' "$2" | sed 's/\\-/-/g' | flags) ||
    { echo "--help (<) and the manual page $2 (>) differ" >&2; exit 1; }
}
compare "$help" "$man"
compare "$render_help" "$render_man"
diff <(flags <<<"$help $render_help") <(flags <"$completion") ||
  { echo "--help (<) and the completion (>) differ" >&2; exit 1; }
