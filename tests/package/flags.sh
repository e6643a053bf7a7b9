#!/usr/bin/env bash
# flags.sh PREFIX COMPLETION: the manual pages and the completion list exactly the flags of rotarun,
# of rotarun render and, if installed, of rota-bench COLLECTIVE.
set -euo pipefail
rotarun=$1/bin/rotarun bench=$1/bin/rota-bench pages=$1/share/man/man1 completion=$2

flags() { grep -oE -e '--[a-z][a-z-]*' | sort -u; }
flags_of() { sed -nE 's/^ *(-[a-zA-Z], )?(--[a-z-]+)( .*)?$/\2/p' <<<"$1" | flags; }
help=$(flags_of "$("$rotarun" --help)")
render_help=$(flags_of "$("$rotarun" render --help)")
[[ -n $help && -n $render_help ]]

# compare FLAGS PAGE: in a manual page a backslash precedes every hyphen that users type.
compare() {
  diff <(echo "$1") <(grep -v '^\.\\"' "$2" | sed 's/\\-/-/g' | flags) ||
    { echo "--help (<) and the manual page $2 (>) differ" >&2; exit 1; }
}
compare "$help" "$pages/rotarun.1"
compare "$render_help" "$pages/rotarun-render.1"
if [[ -x $bench ]]; then
  bench_help=$(flags_of "$("$bench" all-reduce --help)")
  [[ -n $bench_help ]]
  compare "$bench_help" "$pages/rota-bench.1"
fi
diff <(flags <<<"$help $render_help") <(flags <"$completion") ||
  { echo "--help (<) and the completion (>) differ" >&2; exit 1; }
