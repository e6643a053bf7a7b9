#!/usr/bin/env bash
# The head of each page of docs/benchmarks/ has the commit, the day, the CPU and the flags of the
# measurement. It does not matter which commit that is: a change of the code changes no page.
#
# usage: benchmark_pages.sh PROJECT
# ShellCheck takes the quotes of code in Markdown for command substitutions.
# shellcheck disable=SC2016
set -euo pipefail
cd "$1/docs/benchmarks"
verdict=0

# needs WHAT REGEX
needs() {
  [[ $head =~ $2 ]] && return
  echo "docs/benchmarks/$page: its head does not have $1" >&2
  verdict=1
}

for page in *.md; do
  # The head ends where the results begin: with a picture, a table or a heading.
  head=$(sed '2,$ {/^[!|#]/Q}' "$page" | tr '\n' ' ')
  needs 'the commit' ' Commit `[^` ]*[0-9][^` ]*`, '
  needs 'the day and the CPU' ' on [0-9]+ [A-Z][a-z]+ 20[0-9]{2}: [^ ].*, [0-9]+ cores[,.]'
  needs 'the flags' ', preset [^ ]+, [^ ]+ [0-9.]+ with `-O'
done
exit $verdict
