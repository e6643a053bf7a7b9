#!/usr/bin/env bash
# slurm_cluster.sh start DIR PORT [OWNER] | stop DIR: a Slurm cluster of nodes n1 and n2 on this
# machine. Its daemons listen at the ports PORT to PORT + 2.
#
# DIR must not exist yet. It holds everything: the configuration (DIR/slurm.conf, which SLURM_CONF
# names), the key of its own munged, and the logs. The cluster reads nothing of the system's own
# Slurm or munge, and all daemons listen on 127.0.0.1 only. `stop` ends all daemons and jobs and
# removes DIR. `stop` also runs automatically when the process OWNER has ended. `start` exits with
# 77 and a reason if no such cluster can run here.
set -euo pipefail

readonly kNodes=(n1 n2)
readonly kPatience=15 # Seconds, for nodes to come up and for jobs to end.

cannot() {
  echo "$1" >&2
  exit 77
}

# configure DIR PORT prints slurm.conf. Only the backfill scheduler starts heterogeneous jobs, and
# its default interval is 30 seconds.
configure() {
  local dir=$1 port=$2 host user i
  host=$(hostname -s)
  user=$(id -un)
  cat <<EOC
ClusterName=rota
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/slurmctld.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdSpoolDir=$dir/spool.%n
TmpFS=$dir/tmp.%n
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmdLogFile=$dir/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
ReturnToService=2
KillWait=2
MailProg=/bin/true
EOC
  for i in "${!kNodes[@]}"; do
    echo "NodeName=${kNodes[i]} NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1 + i)) CPUs=4"
  done
  echo "PartitionName=all Nodes=ALL Default=YES State=UP"
}

# Starts a daemon in a separate process group, and records the number of the group.
launch() {
  local dir=$1
  shift
  "$@" >>"$dir/daemons.log" 2>&1 </dev/null &
  echo $! >>"$dir/groups"
}

are_idle() { [[ $(sinfo --noheader --format='%D %T' 2>/dev/null) == "${#kNodes[@]} idle" ]]; }

# Waits until "$@" succeeds.
wait_for() {
  local end=$((SECONDS + kPatience))
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}

start() {
  local dir=$1 port=$2 owner=${3:-} node program
  PATH=$PATH:/usr/sbin:/sbin
  [[ -z ${SLURM_JOB_ID:-} ]] || cannot "this is a job of another Slurm already"
  for program in slurmctld slurmd srun sbatch salloc sinfo munged; do
    command -v "$program" >/dev/null || cannot "$program is not installed"
  done
  mkdir -m 700 "$dir"
  mkdir "$dir/state"
  for node in "${kNodes[@]}"; do mkdir "$dir/spool.$node" "$dir/tmp.$node"; done
  (umask 077; head -c 128 /dev/urandom >"$dir/munge.key")
  configure "$dir" "$port" >"$dir/slurm.conf"
  export SLURM_CONF=$dir/slurm.conf
  set -m
  # --force: munged expects a socket that all users may reach, and this socket is for one user.
  launch "$dir" munged --foreground --force --key-file="$dir/munge.key" \
    --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" --log-file="$dir/munged.log" \
    --seed-file="$dir/munged.seed"
  wait_for test -S "$dir/munge.socket" || give_up "$dir" "munged does not start"
  launch "$dir" slurmctld -D
  for node in "${kNodes[@]}"; do launch "$dir" slurmd -D -N "$node"; done
  wait_for are_idle || give_up "$dir" "the nodes do not come up"
  if [[ -n $owner ]]; then
    # shellcheck disable=SC2016
    launch "$dir" bash -c 'tail --pid="$1" -f /dev/null; exec setsid "$2" stop "$3"' \
      - "$owner" "$(realpath "$0")" "$dir"
  fi
}

give_up() {
  echo "$2" >&2
  tail -n 5 "$1"/*.log >&2 || true
  stop "$1"
  exit 1
}

# A zombie counts as gone: it has ended, and its parent has not yet collected it.
all_gone() {
  local group state
  while read -r group; do
    state=$(sed 's/.*) //' "/proc/$group/stat" 2>/dev/null || true)
    [[ $state == "" || $state == Z* ]] || return 1
  done <"$1/groups"
}

signal_all() {
  local group
  while read -r group; do kill "-$2" -- "-$group" 2>/dev/null || true; done <"$1/groups"
}

is_queue_empty() { [[ -z $(squeue --noheader 2>/dev/null) ]]; }

stop() {
  local dir=$1
  [[ -f $dir/groups ]] || return 0
  PATH=$PATH:/usr/sbin:/sbin
  export SLURM_CONF=$dir/slurm.conf
  timeout "$kPatience" scancel --user="$(id -un)" 2>/dev/null || true
  wait_for is_queue_empty || true
  signal_all "$dir" TERM
  wait_for all_gone "$dir" || signal_all "$dir" KILL
  rm -rf "$dir"
}

case ${1:-} in
  start) start "$(realpath -m "$2")" "$3" "${4:-}" ;;
  stop) stop "$(realpath -m "$2")" ;;
  *)
    sed -n '2,10s/^# \?//p' "$0" >&2
    exit 2
    ;;
esac
