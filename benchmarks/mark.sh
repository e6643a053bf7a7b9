#!/usr/bin/env bash
# Writes "stale" into the head of each benchmark page whose sources have changed since it was
# measured, and removes the mark from all other pages.
#
# usage: mark.sh [--check | --release] [ROOT]
# --check changes nothing, and fails if the mark of a page is wrong. --release also fails if a page
# is stale or missing, but the page about GPUs may be missing: few machines have a GPU. ROOT is the project's root, by default the tree of this file.
set -euo pipefail
digest=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/pages/digest.sh
mode=mark
if [[ ${1:-} == --* ]]; then mode=${1#--} && shift; fi
[[ $mode =~ ^(mark|check|release)$ ]] && (($# <= 1)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
mark='**Stale:** the sources that this page measures have changed since.'
verdict=0

complain() {
  echo "docs/benchmarks/$page.md: $*" >&2
  verdict=1
}

# The head ends where the results begin: with a picture, a table or a heading.
head_of() { sed '2,$ {/^[!|#]/Q}' "$1"; }

# The mark is below the title.
write_mark() { sed -i "1a\\\\n$mark" "$1"; }
remove_mark() { sed -i '2,/^\*\*Stale:/ {/^$/d; /^\*\*Stale:/d}' "$1"; }

for file in docs/benchmarks/*.md; do
  page=$(basename "$file" .md)
  today=$("$digest" "$page" "$PWD")
  measured=$(head_of "$file" | tr '\n' ' ' | sed -n 's/.* sources `\([0-9a-f]*\)`.*/\1/p')
  if grep -qxF "$mark" <(head_of "$file"); then says_stale=1; else says_stale=; fi
  case $mode:${says_stale:+says-}$([[ $measured == "$today" ]] && echo fresh || echo stale) in
    mark:stale) write_mark "$file" ;;
    mark:says-fresh) remove_mark "$file" ;;
    check:stale | release:stale)
      complain "its sources have changed; \`./dev bench --mark\` writes that into its head"
      ;;
    check:says-fresh | release:says-fresh)
      complain "says that it is stale, but it is not; \`./dev bench --mark\` corrects that"
      ;;
    release:says-stale) complain "is stale; \`./dev bench --docs\` measures it anew" ;;
  esac
done
if [[ $mode == release ]]; then
  while read -r page; do
    [[ -f docs/benchmarks/$page.md || $page == gpu ]] || complain "is missing; \`./dev bench --docs\` measures it"
  done < <(sed -n 's/^\([a-z][^:]*\):.*/\1/p' benchmarks/pages/sources.txt | sort -u)
fi
exit $verdict
