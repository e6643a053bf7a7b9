#!/usr/bin/env bash
# Tests benchmarks/mark.sh in a small tree: it finds each page that says wrongly whether its sources
# have changed, and corrects the page.
#
# usage: stale_pages_test.sh PROJECT
set -euo pipefail
mark=$1/benchmarks/mark.sh digest=$1/benchmarks/pages/digest.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
page=$tree/docs/benchmarks/speed.md source=$tree/lib/fast.cpp
table=$tree/benchmarks/pages/sources.txt
mkdir -p "$tree/lib" "$tree/docs/benchmarks" "$tree/benchmarks/pages"
echo 'int fast;' >"$source"
printf '# A comment.\n@all: lib\nspeed: @all\n' >"$table"

fail() {
  echo "stale_pages_test.sh: $*" >&2
  cat "$page" >&2
  exit 1
}

# refuses MODE WORDS: mark.sh fails and prints these words.
refuses() {
  local said
  ! said=$("$mark" "--$1" "$tree" 2>&1) || fail "--$1 let pass what it should refuse: $2"
  [[ $said == *"$2"* ]] || fail "--$1 said '$said', not '$2'"
}

passes() { "$mark" "--$1" "$tree" || fail "--$1 refused what is right"; }

measure() {
  printf '# speed\n\nMeasured today; sources\n`%s`.\n\n![](speed.svg)\n\n| 1 |\n' \
    "$("$digest" speed "$tree")" >"$page"
}

measure
cp "$page" "$tree/as_measured"
passes check
passes release

echo 'int faster;' >"$source"
refuses check 'docs/benchmarks/speed.md: its sources have changed'
"$mark" "$tree"
passes check
refuses release 'is stale'
"$mark" "$tree"
(($(grep -c '^\*\*Stale' "$page") == 1)) || fail 'marked twice'

echo 'int fast;' >"$source"
refuses check 'says that it is stale, but it is not'
"$mark" "$tree"
cmp "$page" "$tree/as_measured" || fail 'the mark left something behind'

printf '// What it is.\n\nint fast;  // And why.\n' >"$source"
passes check
printf '// What it is.\n\nint fast; int more;  // And why.\n' >"$source"
refuses check 'its sources have changed'
echo 'int fast;' >"$source"
printf '# A comment.\n' >"$tree/lib/run.sh"
refuses check 'its sources have changed'
measure
printf '# Another one.\n\n' >"$tree/lib/run.sh"
passes check
printf '# Another one.\nrun\n' >"$tree/lib/run.sh"
refuses check 'its sources have changed'
rm "$tree/lib/run.sh"
measure

mv "$source" "$tree/lib/renamed.cpp"
refuses check 'its sources have changed'
mv "$tree/lib/renamed.cpp" "$source"
touch "$tree/lib/not_a_source.o"
passes check

echo 'slowness: lib' >>"$table"
passes check
refuses release 'docs/benchmarks/slowness.md: is missing'

printf '# speed\n\nMeasured long ago.\n' >"$page"
refuses check 'its sources have changed'

measure
printf '| **Stale:** in a cell |\n' >>"$page"
passes check
printf '@all: lib\nspeed: @all lib/gone\n' >"$table"
refuses check 'measures lib/gone, which is not there'
echo 'speed: @al lib' >"$table"
refuses check 'measures @al, which is not there'
echo '@all: lib' >"$table"
refuses check 'has no row for speed'
