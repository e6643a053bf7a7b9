#!/usr/bin/env bash
# Holds predictions against measurements. Calibrates on two hosts, which are network namespaces, and
# predicts all-reduces and paced training steps on 2 to 8 hosts. Measures each of them once a round.
#
# usage: validate.sh BIN OUT [whole | short | few]
# BIN has the programs. OUT gets validation.jsonl, and validation.md, which is a part of a page. It
# also gets the folder calibrations: a file MEGABITS-RANKS for each rate and each number of ranks on
# a host. The whole takes an hour at most, short ten minutes. Ends with 1 if the predictions are not
# good enough, and with 2 if they could not be judged. Without root there are no hosts: then
# validation.md says that the validation is left out.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=../contest/hosts.sh
source "$here/../contest/hosts.sh"
# shellcheck source=../pages/rounds.sh
source "$here/../pages/rounds.sh"

usage() {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}

(($# == 2 || $# == 3)) || usage
bin=$(realpath "$1") out=$2 points=${3:-whole}
rates=(1000 100) ranks_per_host=(1 2) rounds=3
case $points in
  whole) most_minutes=60 ;;
  short) most_minutes=10 ;;
  few) most_minutes=3 rates=(1000) ranks_per_host=(1) rounds=1 ;;
  *) usage ;;
esac
most=300    # Seconds that one job may take, if they are left.
judging=60  # Seconds for the predictions after the measurement.
rows=$out/validation.jsonl
rate=       # Of the cables, in Mbit/s.
failed=()   # Sentences about jobs that failed, and about a round that was cut off.
mkdir -p "$out"
calibrations=$(realpath "$out")/calibrations
rm -rf "$out/validation.md" "$calibrations"
: >"$rows"

if ((EUID != 0)); then
  paragraph <<TEXT | tee "$out/validation.md"
The validation of predictions is left out: only root can make the network namespaces that are its
hosts.
TEXT
  exit 0
fi

# set_rate MEGABITS
set_rate() {
  [[ $1 == "$rate" ]] || limit_rate "$1mbit"
  rate=$1
}

# limit_job: gives the next job the rest of the time at most. Fails if the time is over.
limit_job() {
  local left=$((60 * most_minutes - judging - SECONDS))
  limit=$((left < most ? left : most))
  ((left > 0))
}

# end_without_costs WHY
end_without_costs() {
  echo "validate.sh: two hosts of $ranks at $megabits Mbit/s did not measure their costs: $1;" \
    "without them nothing can be predicted" >&2
  exit 2
}

# Measures the costs on two hosts alone. Ends the script if there are none.
calibrate() {
  local megabits ranks
  mkdir "$calibrations"
  for megabits in "${rates[@]}"; do
    set_rate "$megabits"
    for ranks in "${ranks_per_host[@]}"; do
      limit_job || end_without_costs "$most_minutes minutes are over"
      on_first 2 "$ranks" bench_on_ranks tune \
        --calibration "$calibrations/$megabits-$ranks" >/dev/null ||
        end_without_costs "the job failed, or took more than $limit s"
    done
  done
}

validate() {
  "$bin/rota-bench" validate --calibrations "$calibrations" --points "$points" \
    --burst "${burst}K" "$@"
}

# measure JOB: JOB is a line of validate --jobs.
measure() {
  local megabits count ranks arguments world
  read -r megabits count ranks arguments <<<"$1"
  set_rate "$megabits"
  # The arguments are words without blanks.
  # shellcheck disable=SC2086
  if on_first "$count" "$ranks" run_rota "$count" $arguments >"$work/rows"; then
    world="\"hosts\": $count, \"ranks_per_host\": $ranks, \"megabits\": $megabits"
    sed "s/.*/{$world, \"row\": &}/" "$work/rows" >>"$rows"
  else
    failed+=("In round $round, '$arguments' failed on $count hosts of $ranks at $megabits Mbit/s,
      or took more than $limit s.")
  fi
}

# Measures all points once a round, until the time is over.
measure_all() {
  local job
  for ((round = 1; round <= rounds; ++round)); do
    for job in "${jobs[@]}"; do
      limit_job || {
        failed+=("Round $round was cut off after $((SECONDS / 60)) minutes.")
        return
      }
      measure "$job"
    done
  done
}

explain() {
  paragraph <<TEXT
Two hosts have measured the costs below. All points are predicted from them alone, by the functions
of \`rota-bench predict\`. The points are all-reduces by six plans, and paced training steps, on 2
to 8 hosts, which are network namespaces. The time of a point is the median of $rounds rounds, each
of which measures all points once. The time of an all-reduce in a round is the median of several
calls, with a barrier before each of them. A point that is predicted to take more than 2 s is not
measured.
TEXT
  paragraph <<TEXT
In each cell, m is the measured time, p the predicted one, both in milliseconds, and the percentage
is the error of the prediction. B: the bytes on the busiest cable, in one of its directions, take at
least half of the measured time. Such a prediction is a miss if it is off by more than 10 %, and any
other if it is off by more than 40 %. X: a miss. U: the rounds differ from each other by more than
this error.
TEXT
  [[ ${#failed[*]} == 0 ]] || printf '%s\n' "${failed[@]}" | sed 's/^ *//' | paragraph
  echo "The costs: files MEGABITS-RANKS for each rate and each number of ranks on a host."
  printf '\n```text\n'
  (cd "$calibrations" && grep -HE '^(within-host|between-hosts|additions) ' -- *)
  printf '```\n\n'
}

work=$(mktemp -d)
make_hosts 8 1gbit
calibrate
validate --jobs >"$work/jobs"
mapfile -t jobs <"$work/jobs"
measure_all
verdict=0
validate <"$rows" >"$work/tables" || verdict=$?
((verdict < 2)) || exit "$verdict"
{
  printf '## Predicted and measured\n\n'
  explain
  cat "$work/tables"
} >"$work/page"
mv "$work/page" "$out/validation.md"
cat "$out/validation.md"
exit "$verdict"
