#!/usr/bin/env bash
# Many small buffers beside a large one, as a page: in several jobs, since where a job's pages and
# processes lie is decided when it starts.
#
# usage: page.sh BIN OUT COMMAND [JOBS [ROUNDS]]
# BIN has the programs. OUT gets small.md, which says that it was made by COMMAND.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=../pages/head.sh
source "$here/../pages/head.sh"
(($# >= 3)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
bin=$(realpath "$1") out=$2 command=$3 jobs=${4:-5} rounds=${5:-101}
limit=120  # Seconds that one job may take.
mkdir -p "$out"
begin_page small

rows_of() {
  local job
  for ((job = 0; job < jobs; ++job)); do
    timeout $limit "$bin/rotarun" -np 2 "$bin/rota-bench" small --memory "$1" --rounds "$rounds" \
      --json || return 1  # Whoever keeps the rows has no `set -e`.
  done
}

# values_of ROWS MANNER NAME: a line a job, sorted.
values_of() { sed -n "s/.*\"manner\": \"$2\".*\"$3\": \([^,}]*\).*/\1/p" <<<"$1" | sort -n; }

# spread FORMAT: of sorted numbers the median, and as far as the format has them the least and most.
spread() {
  awk -v format="$1" '{a[NR] = $1} END {
    printf format, NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2, a[1], a[NR]}'
}

table_of() {
  local rows manner
  rows=$(rows_of "$1")
  printf '**memory %s**\n\n| manner | µs | by one call |\n|---|---:|---:|\n' "$1"
  sed -n 's/.*"manner": "\([^"]*\)".*/\1/p' <<<"$rows" | awk '!seen[$0]++' |
    while read -r manner; do
      echo "| $manner | $(values_of "$rows" "$manner" median_us | spread %.2f)" \
        "| $(values_of "$rows" "$manner" by_one_call | spread '%.2f (%.2f to %.2f)') |"
    done
  echo
}

# Of so many thousand calls, in a world of one rank.
instructions_of() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bin/rota-bench" all-reduce --sizes 4 \
    --placement in-place --calls back-to-back --iterations "$1" 2>&1 >/dev/null |
    sed -n 's/.*Collected : //p'
}

{
  head_of_page small "$command" \
    "rota $("$bin/rotarun" --version | sed -n 's/^rotarun \([0-9.]*\).*/\1/p')"
  echo "All-reduce of 64 buffers of 4 KiB, float32, sum, 2 ranks over shared memory, beside that of"
  echo "one of 256 KiB. Medians of $jobs jobs of $rounds rounds, each of which takes the mean of 20"
  echo "calls of every manner; ratios are taken round by round, and their least and most are jobs'."
  echo
  table_of shared
  table_of any
  if command -v valgrind >/dev/null; then
    echo "How much of that is rota's own code, and not the other core's answer, a world of one rank"
    echo "shows: an all-reduce of 4 bytes is" \
      "$((($(instructions_of 3) - $(instructions_of 1)) / 2000)) instructions there."
  fi
} >"$out/small.new"
mv "$out/small.new" "$out/small.md"
cat "$out/small.md"
