#!/usr/bin/env bash
# Measures how long MPI programs take to start, to end and to abort, under rotarun and under the
# launcher of their MPI in turn, and makes a page.
#
# usage: start.sh BIN OUT COMMAND [ROUNDS]
# BIN has the programs. The script writes OUT/mpi-start.md, which names COMMAND as its origin.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=../contest/peers.sh
source "$here/../contest/peers.sh"
# shellcheck source=../contest/hosts.sh
source "$here/../contest/hosts.sh"
# shellcheck source=../pages/rounds.sh
source "$here/../pages/rounds.sh"
(($# >= 3)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
bin=$(realpath "$1") out=$2 command=$3 rounds=${4:-9}
mkdir -p "$out"
begin_page
work=$(mktemp -d)
trap clean_up EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
tuned=(--mca pml ob1 --mca btl 'tcp,vader,self')

# launch_WAY RANKS PROGRAM... starts the program as ranks of one host.
launch_rotarun() {
  local crowd=()
  (($1 <= $(nproc))) || crowd=(--oversubscribe)
  timeout -k 30 $limit "$bin/rotarun" -np "$1" "${crowd[@]}" "${@:2}"
}
launch_mpirun() {
  local crowd=()
  (($1 <= $(nproc))) || crowd=(--oversubscribe --mca mpi_yield_when_idle 1)
  timeout -k 30 $limit "$(launcher_of openmpi)" -np "$1" "${crowd[@]}" "${@:2}"
}
launch_tuned() { launch_mpirun "$1" "${tuned[@]}" "${@:2}"; }
launch_hydra() { timeout -k 30 $limit "$(launcher_of mpich)" -np "$1" "${@:2}"; }

# The same with two ranks on each of two hosts. RANKS is 4.
launch_rotaruns() {
  slots=2 on_each "$bin/rotarun" --ports 7720-7729 --key-file "$folder/key" "${@:2}"
}
launch_agents() {
  timeout -k 30 $limit "$folder/agent" "${addresses[0]}" "$(launcher_of openmpi)" -np "$1" \
    -H "$(joined "${addresses[@]/%/:2}")" --mca plm_rsh_agent "$folder/agent" "${tuned[@]}" \
    --mca btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24 \
    --mca mpi_yield_when_idle 1 "${@:2}"
}

# measure GROUP WAY RANKS PROGRAM [abort]: notes the times from the start until MPI_Init has
# returned ("WAY init"), until the launcher has ended ("WAY"), and from MPI_Abort until then.
measure() {
  local begin=$EPOCHREALTIME end code=0
  "launch_$2" "$3" "$bin/$4" "$begin" "${@:5}" >"$work/rows" 2>"$work/errors" || code=$?
  end=$EPOCHREALTIME
  if ((code != ($# > 4 ? 42 : 0))); then
    echo "$1, $2: exit code $code" >&2
    cat "$work/errors" >&2
    return 1
  fi
  {
    sed "s/initialized/$2 init/" "$work/rows" | grep init
    awk -v begin="$begin" -v end="$end" -v way="$2" -F '[ }]+' '
      /aborted/ {from = $(NF - 1)}
      END {printf "{\"what\": \"%s\", \"value\": %.6f}\n", way, end - begin - from}' "$work/rows"
  } | note "$1"
}

has() { [[ -x $bin/hello_$1 ]] && command -v "mpirun.$1" >/dev/null; }
for mpi in openmpi mpich; do has $mpi || echo "${titles[$mpi]}: not installed" >&2; done
((EUID != 0)) || make_hosts 2 1gbit
for ((round = 0; round < rounds; ++round)); do
  if has mpich; then
    for way in rotarun hydra; do measure mpich-2 $way 2 hello_mpich; done
  fi
  has openmpi || continue
  for way in rotarun tuned mpirun; do
    measure openmpi-2 $way 2 hello_openmpi
    measure openmpi-32 $way 32 hello_openmpi
  done
  ((EUID == 0)) || continue
  for way in rotaruns agents; do
    measure openmpi-hosts $way 4 hello_openmpi
    measure openmpi-abort $way 4 hello_openmpi abort
  done
done

# row TITLE GROUP OURS THEIRS THEIRS' NAME: prints a row of the table, if the group was measured.
row() {
  is_measured "$2/$3" || return 0
  printf '| %s | %s | %s | %s | %s | %s |\n' "$1" "$(spread "$2/$3 init" %.0f 1e3)" \
    "$(spread "$2/$3" %.0f 1e3)" "$5" "$(spread "$2/$4 init" %.0f 1e3)" \
    "$(spread "$2/$4" %.0f 1e3)"
}

{
  describe mpi-start "$command" openmpi mpich
  paragraph <<'TEXT'
A program calls MPI_Init, MPI_Barrier and MPI_Finalize. The columns have the time from the
launcher's start until all ranks have left MPI_Init, and until the launcher has ended. For
MPI_Abort, the second is the time from the call of the last rank until the launcher, or that of the
first host, has ended. The table has the median of the rounds, with the least and the most of them,
in ms. "tuned" means `--mca pml ob1 --mca btl tcp,vader,self`, which rotarun sets as well. On hosts
too, all is tuned; the hosts are network namespaces, and mpirun starts its daemons by a script in the
place of ssh.
TEXT
  echo '| | rotarun, MPI_Init | rotarun, end | peer | MPI_Init | end |'
  echo '|---|---:|---:|---|---:|---:|'
  row 'Open MPI, 2 ranks' openmpi-2 rotarun tuned 'mpirun, tuned'
  row 'Open MPI, 2 ranks' openmpi-2 rotarun mpirun 'mpirun'
  row 'Open MPI, 32 ranks' openmpi-32 rotarun tuned 'mpirun, tuned'
  row 'MPICH, 2 ranks' mpich-2 rotarun hydra hydra
  row 'Open MPI, 2 hosts, 2 ranks each' openmpi-hosts rotaruns agents 'mpirun'
  row 'The same, MPI_Abort' openmpi-abort rotaruns agents 'mpirun'
  echo
  verdict_on openmpi-2/rotarun openmpi-2/tuned 'at most' 0.8 %.2f 1 \
    'Open MPI, 2 ranks: rotarun takes %s times as long as tuned mpirun'
  verdict_of openmpi-2/rotarun 'at most' 100 %.0f 1e3 'Open MPI, 2 ranks: %s ms'
  verdict_on openmpi-32/rotarun openmpi-32/tuned 'at most' 1 %.2f 1 \
    'Open MPI, 32 ranks: rotarun takes %s times as long as tuned mpirun'
  verdict_of openmpi-32/rotarun 'at most' 1 %.2f 1 'Open MPI, 32 ranks: %s s'
  verdict_on mpich-2/rotarun mpich-2/hydra 'at most' 1 %.2f 1 \
    'MPICH, 2 ranks: rotarun takes %s times as long as hydra'
  verdict_on 'openmpi-hosts/rotaruns init' 'openmpi-hosts/agents init' 'at most' 0.8 %.2f 1 \
    'two hosts: rotarun takes %s times as long as mpirun until MPI_Init has returned'
  verdict_of openmpi-abort/rotaruns 'at most' 0.7 %.2f 1 'MPI_Abort: all have ended after %s s'
} >"$out/mpi-start.new"
mv "$out/mpi-start.new" "$out/mpi-start.md"
cat "$out/mpi-start.md"
