#!/usr/bin/env bash
# Compares many small buffers with one large buffer, and makes a page. Runs several jobs, since the
# places of a job's pages and processes are decided when it starts.
#
# usage: page.sh BIN OUT COMMAND [JOBS [ROUNDS]]
# BIN has the programs. The script writes OUT/small.md, which names COMMAND as its origin.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=../pages/head.sh
source "$here/../pages/head.sh"
# shellcheck source=count.sh
source "$here/count.sh"
(($# >= 3)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
bin=$(realpath "$1") out=$2 command=$3 jobs=${4:-5} rounds=${5:-101}
limit=120  # Seconds that one job may take.
mkdir -p "$out"
begin_page

rows_of() {
  local job
  for ((job = 0; job < jobs; ++job)); do
    timeout -k 30 $limit "$bin/rotarun" -np 2 "$bin/rota-bench" small --memory "$1" \
      --rounds "$rounds" --json || return 1  # A command substitution has no `set -e`.
  done
}

# values_of ROWS MANNER NAME: prints a value for each job, sorted.
values_of() { sed -n "s/.*\"manner\": \"$2\".*\"$3\": \([^,}]*\).*/\1/p" <<<"$1" | sort -n; }

# spread FORMAT: prints the median of sorted numbers. If FORMAT formats three numbers, prints the
# minimum and the maximum too.
spread() {
  awk -v format="$1" '{a[NR] = $1} END {
    printf format, NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2, a[1], a[NR]}'
}

# table_of MEMORY ROWS
table_of() {
  local rows=$2 manner
  printf '**memory %s**\n\n| way | µs | ratio to one call |\n|---|---:|---:|\n' "$1"
  sed -n 's/.*"manner": "\([^"]*\)".*/\1/p' <<<"$rows" | awk '!seen[$0]++' |
    while read -r manner; do
      echo "| $manner | $(values_of "$rows" "$manner" median_us | spread %.2f)" \
        "| $(values_of "$rows" "$manner" by_one_call | spread '%.2f (%.2f to %.2f)') |"
    done
  echo
}

shared=$(rows_of shared)
any=$(rows_of any)
declare -A instructions=()
if command -v valgrind >/dev/null; then
  for way in alone shm tcp; do instructions[$way]=$(instructions_of $way); done
fi

{
  head_of_page small "$command" \
    "rota $("$bin/rotarun" --version | sed -n 's/^rotarun \([0-9.]*\).*/\1/p')"
  echo "2 ranks sum 64 buffers of 4 KiB of float32 over shared memory, in several ways of calling"
  echo "all-reduce. The first way is one call for one buffer of 256 KiB. In a round, each way sums"
  echo "all buffers 20 times. The result of a round is, for each way, its mean time divided by the"
  echo "mean time of the first way. The result of a job is the median of $rounds rounds. The table"
  echo "has the median of $jobs jobs; in brackets are the smallest and the largest result of a job."
  echo "[What is measured](../benchmarks.md#what-is-measured) explains memory shared and memory" \
    "any."
  echo
  table_of shared "$shared"
  table_of any "$any"
  if ((${#instructions[@]})); then
    echo "In a world of one rank, which never waits for another core, an all-reduce of 4 bytes" \
      "takes"
    echo "${instructions[alone]} instructions. This is rota's own code. Between two ranks, of" \
      "which the counted one"
    echo "does not wait, it takes ${instructions[shm]} over shared memory and" \
      "${instructions[tcp]} over TCP, without those of the system's calls."
  fi
} >"$out/small.new"
mv "$out/small.new" "$out/small.md"
cat "$out/small.md"
