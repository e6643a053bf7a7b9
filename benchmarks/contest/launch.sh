#!/usr/bin/env bash
# Measures how long a job of two ranks takes to start and to end, with rota's launcher and the
# launchers of its peers in turn.
#
# usage: launch.sh BIN OUT COMMAND
# BIN has the programs. The script writes OUT/launch.md, which names COMMAND as its origin.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=peers.sh
source "$here/peers.sh"
(($# == 3)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
bin=$(realpath "$1") out=$2 command=$3
rounds=21
begin_page
mkdir -p "$out"
times=$(mktemp -d)
trap 'rm -rf "$times"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# start NAME PROGRAM [ARGUMENT...]: runs the program as two ranks.
start() {
  case $1 in
    rota) timeout -k 30 $limit "$bin/rotarun" -np 2 "${@:2}" ;;
    *) timeout -k 30 $limit "$(launcher_of "$1")" -np 2 "${@:2}" ;;
  esac
}

program_of() { if [[ $1 == rota ]]; then echo "$bin/rota-bench"; else echo "$bin/$1_bench"; fi; }

milliseconds_of() {
  local begin=$EPOCHREALTIME
  "$@"
  awk -v begin="$begin" -v end="$EPOCHREALTIME" 'BEGIN {print (end - begin) * 1e3}'
}

# middle FORMAT: prints the median of the numbers on standard input.
middle() {
  sort -g | awk -v format="$1" '{a[NR] = $1} END {
    printf format, NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2}'
}

median() { middle %.1f <"$1"; }

# ratio FILE OTHER: prints the median of the ratios of the rounds.
ratio() { paste "$1" "$2" | awk '{print $1 / $2}' | middle %.2f; }

names=()
for name in rota openmpi mpich; do is_there $name && names+=("$name"); done
name_missing
for ((round = 1; round <= rounds; ++round)); do
  for name in "${names[@]}"; do
    milliseconds_of start "$name" true >>"$times/$name.true"
    start "$name" "$(program_of "$name")" all-reduce --since "$EPOCHREALTIME" >>"$times/$name.sum"
  done
done
{
  describe launch "$command" "${names[@]}"
  cat <<END
\`true\` is the time from the launcher's start to its end, for two ranks that run \`true\`. First
sum is the time from the launcher's start until both ranks have the sum of one float. The table has
the medians of $rounds rounds, in milliseconds, and the medians of the rounds' ratios.

END
  echo '| | `true`, ms | rota / this | first sum, ms | rota / this |'
  echo '|---|---:|---:|---:|---:|'
  for name in "${names[@]}"; do
    row="| ${titles[$name]} |"
    for what in true sum; do
      row+=" $(median "$times/$name.$what") | $(ratio "$times/rota.$what" "$times/$name.$what") |"
    done
    echo "$row"
  done
} >"$out/launch.new"
mv "$out/launch.new" "$out/launch.md"
cat "$out/launch.md"
