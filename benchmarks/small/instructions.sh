#!/usr/bin/env bash
# Compares two builds by the instructions of an all-reduce of 4 bytes, in a world of one rank and
# between two ranks over shm and tcp. A time of one microsecond differs more between two runs than
# between two commits; a count does not.
#
# usage: instructions.sh BIN OLD_BIN
# BIN and OLD_BIN have the programs of the new and of the old build.
set -euo pipefail
export LC_ALL=C  # For the points of numbers.
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=count.sh
source "$here/count.sh"
(($# == 2)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
command -v valgrind >/dev/null || {
  echo "instructions.sh: valgrind is not installed" >&2
  exit 1
}

echo '| | instructions | before | ratio |'
echo '|---|---:|---:|---:|'
for way in alone shm tcp; do
  bin=$(realpath "$1")
  now=$(instructions_of $way)
  bin=$(realpath "$2")
  before=$(instructions_of $way)
  awk -v way=$way -v now="$now" -v before="$before" \
    'BEGIN {printf "| %s | %d | %d | %.3f |\n", way, now, before, now / before}'
done
