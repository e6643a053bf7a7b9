#!/usr/bin/env bash
# Compares rota over MPI with MPI's own calls and with rota's TCP, for each MPI that is installed,
# and makes a page: two ranks on one host and, as root, four hosts at 1 Gbit/s. Also trains the
# example under rotarun and under Open MPI's mpirun. Runs several jobs, since the places of a job's
# pages and processes are decided when it starts.
#
# usage: page.sh BIN OUT COMMAND [JOBS]
# BIN has the programs. The script writes OUT/mpi.md, which names COMMAND as its origin.
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
bin=$(realpath "$1") out=$2 command=$3 jobs=${4:-5}
limit=120  # Seconds that one job may take.
mkdir -p "$out"
begin_page
work=$(mktemp -d)
trap clean_up EXIT

mpis=()
for mpi in openmpi mpich; do
  if [[ -x $bin/over_mpi_$mpi ]]; then
    mpis+=("$mpi")
  else
    echo "${titles[$mpi]}: not installed" >&2
  fi
done

# train WAY LAUNCHER...: trains the example on two ranks, and notes the images/s of epoch 2.
train() {
  timeout -k 30 $limit "${@:2}" -np 2 "$bin/mnist" --epochs 2 --json |
    sed -n 's/.*"epoch":2,.*"images_per_second":\([^,]*\),.*/{"what": "'"$1"'", "value": \1}/p' |
    note training
}

mpirun=$(command -v mpirun.openmpi || true)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for ((job = 0; job < jobs; ++job)); do
  if [[ -n $mpirun ]]; then
    ((job % 2)) || train rotarun "$bin/rotarun"
    train mpirun "$mpirun"
    ((job % 2 == 0)) || train rotarun "$bin/rotarun"
  fi
  for mpi in "${mpis[@]}"; do
    timeout -k 30 $limit "$bin/rotarun" -np 2 --transport tcp "$bin/over_mpi_$mpi" | note "$mpi"
  done
done
if ((EUID == 0)) && [[ -x $bin/over_mpi_openmpi ]]; then
  make_hosts 4 1gbit
  # Hosts of Open MPI only. Debian's MPICH 4.0.2 finds out that network namespaces share memory. If
  # it must use UCX over TCP instead, MPI_Finalize may never return, under hydra as well.
  for ((job = 0; job < jobs; ++job)); do
    on_each "$bin/rotarun" --ports 7720-7729 --key-file "$folder/key" \
      -x OMPI_MCA_mpi_yield_when_idle=1 "$bin/over_mpi_openmpi" 5 10 | note openmpi-hosts
  done
fi

ways=('plans over MPI' MPI_Allreduce 'rota over TCP' 'MPI_Iallreduce by rota'
  'MPI_Iallreduce by hand' 'MPI_Iallreduce by hand again' 'MPI_Iallreduce with waits')

# table_of GROUP: prints a row for each size, with the time of each way.
table_of() {
  local size way
  printf '| |'
  printf ' %s |' "${ways[@]}"
  printf '\n|---|---:|---:|---:|---:|---:|---:|---:|\n'
  for size in '4 B' '64 KiB' '1 MiB' '16 MiB'; do
    printf '| %s |' "$size"
    for way in "${ways[@]}"; do
      printf ' %s |' "$(spread_of %.4g 1e6 <"$work/$1/$way $size")"
    done
    echo
  done
  echo
}

# verdicts_of GROUP BOUND: BOUND is of the ratio of the plans to MPI_Allreduce.
verdicts_of() {
  local size
  for size in '1 MiB' '16 MiB'; do
    verdict_on "$1/plans over MPI $size" "$1/MPI_Allreduce $size" 'at most' "$2" %.2f 1 \
      "$size, plans over MPI take %s times as long as MPI_Allreduce"
    verdict_on "$1/plans over MPI $size" "$1/rota over TCP $size" 'at most' 1.1 %.2f 1 \
      "$size, plans over MPI take %s times as long as rota over TCP"
  done
  [[ $1 != *-hosts ]] || return 0
  for size in '64 KiB' '1 MiB' '16 MiB'; do
    verdict_on "$1/MPI_Iallreduce by rota $size" "$1/MPI_Iallreduce by hand $size" 'at most' 1.02 \
      %.3f 1 "$size, MPI_Iallreduce by rota takes %s times as long as by hand"
    verdict_on "$1/MPI_Iallreduce by hand again $size" "$1/MPI_Iallreduce by hand $size" 'at most' \
      1.02 %.3f 1 "$size, the same loop by hand takes %s times as long when it is measured again"
    verdict_on "$1/MPI_Iallreduce with waits $size" "$1/MPI_Iallreduce by hand $size" 'at most' \
      1.02 %.3f 1 "$size, a loop by hand that waits as rota does takes %s times as long"
  done
  paste "$work/$1/MPI_Iallreduce by rota 4 B" "$work/$1/MPI_Iallreduce by hand 4 B" |
    awk '{print $1 - $2}' |
    verdict 'at most' 0.5 %.2f 1e6 "4 B, MPI_Iallreduce by rota takes %s µs more than by hand"
}

{
  head_of_page mpi "$command" \
    "rota $("$bin/rotarun" --version | sed -n 's/^rotarun \([0-9.]*\).*/\1/p')"
  paragraph <<'TEXT'
rotarun starts the ranks, which sum float32 in place. One program makes all calls: in a round, each
way makes its calls one after another, and the ranks meet in between. The result of a job is the
median of 15 rounds, or of 5 between hosts. The tables have the median of the jobs, with the least
and the most of them, in µs per call. "by hand" is a loop around MPI_Test. It is measured twice: if
the second measurement misses a bound too, differences by chance are larger than the bound. "with
waits" is a loop that spins and yields between its tests as rota does: what this loop loses, rota's
waits lose. The four hosts are network namespaces, which share the cores of this machine, so Open
MPI is told to yield when it is idle.
TEXT
  if is_measured training/mpirun; then
    printf '**The example on 2 ranks of one host, started by mpirun and by rotarun**\n\n'
    verdict_on training/mpirun training/rotarun 'at least' 0.98 %.3f 1 \
      'mpirun -np 2 mnist trains %s times as many images/s as rotarun -np 2 mnist'
    echo
  fi
  for mpi in "${mpis[@]}"; do
    printf '**%s, 2 ranks on one host**\n\n' "${titles[$mpi]}"
    table_of "$mpi"
    verdicts_of "$mpi" 1.1
    echo
    [[ -d $work/$mpi-hosts ]] || continue
    printf '**%s, 4 hosts at 1 Gbit/s**\n\n' "${titles[$mpi]}"
    table_of "$mpi-hosts"
    verdicts_of "$mpi-hosts" 0.6
    echo
  done
} >"$out/mpi.new"
mv "$out/mpi.new" "$out/mpi.md"
cat "$out/mpi.md"
