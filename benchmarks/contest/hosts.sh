# Makes hosts for scripts: network namespaces. A further namespace is the switch. A cable with a
# given rate in each direction connects each host to the switch. The hosts share the cores and
# memory of this machine, but not its network. Needs root. At the end, whatever happens, ends what
# still runs on the hosts, and removes everything, and the script's folder $work if it has one.
# shellcheck shell=bash

hosts=()
addresses=()
slots=1    # Ranks on each host.
burst=128  # KiB that pass a cable at once after a pause.
switch=rota-switch-$$
folder=

# pids_on_hosts: prints the processes that run on the hosts.
pids_on_hosts() {
  local host
  for host in "${hosts[@]}"; do ip netns pids "$host" 2>/dev/null || true; done
}

# After ten seconds, ends what ignores that it is to end.
clean_up() {
  local host tries
  # Ctrl-C does not reach what runs on a host: timeout gives it a process group of its own.
  pids_on_hosts | xargs -r kill 2>/dev/null || true
  for ((tries = 0; tries < 100; ++tries)); do
    [[ -n $(pids_on_hosts) ]] || break
    sleep 0.1
  done
  pids_on_hosts | xargs -r kill -KILL 2>/dev/null || true
  for host in "${hosts[@]}" "$switch"; do ip netns delete "$host" 2>/dev/null || true; done
  rm -rf ${folder:+"$folder"} ${work:+"$work"}
}

# make_hosts COUNT RATE: makes the hosts. RATE is, for example, 1gbit.
make_hosts() {
  local i host
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  folder=$(mktemp -d)
  ip netns add "$switch"
  ip -n "$switch" link add bridge type bridge
  ip -n "$switch" link set bridge up
  for ((i = 1; i <= $1; ++i)); do
    host=rota-host-$$-$i
    hosts+=("$host")
    addresses+=("10.0.0.$i")
    ip netns add "$host"
    ip link add name cable netns "$host" type veth peer name "port$i" netns "$switch"
    ip -n "$switch" link set "port$i" master bridge up
    ip -n "$host" address add "10.0.0.$i/24" dev cable
    ip -n "$host" link set cable up
    ip -n "$host" link set lo up
    # Sets the usual congestion control, whatever this machine uses. The probing of another
    # algorithm would show in the times of single calls.
    ip -n "$host" route replace 10.0.0.0/24 dev cable src "10.0.0.$i" congctl cubic
  done
  limit_rate "$2"
  (umask 077 && head -c 32 /dev/urandom >"$folder/key")
  make_agent
}

# limit_rate RATE: limits both directions of the cables of all hosts.
limit_rate() {
  local i shape=(tbf rate "$1" burst "${burst}kb" latency 50ms)
  for ((i = 1; i <= ${#hosts[@]}; ++i)); do
    tc -n "${hosts[i - 1]}" qdisc replace dev cable root "${shape[@]}"
    tc -n "$switch" qdisc replace dev "port$i" root "${shape[@]}"
  done
}

# Writes the program that mpirun uses as ssh: AGENT [-OPTION...] ADDRESS COMMAND... The program
# gives each host its own name.
make_agent() {
  cat >"$folder/agent" <<END
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
host=\${1##*.}
shift
exec ip netns exec rota-host-$$-\$host unshare --uts sh -c "hostname host\$host; \$*"
END
  chmod +x "$folder/agent"
}

joined() { local IFS=,; echo "$*"; }

# on_each COMMAND...: runs the command on all hosts at the same time. Replaces {rank} and {address}
# in the command by the rank and the address of the host. Prints the output of the first host. After
# $limit seconds the command is asked to end; rotarun needs at most 20 more. Then it is killed.
on_each() {
  local i words pids=() verdict=0
  for ((i = ${#hosts[@]} - 1; i >= 0; --i)); do
    words=("${@//\{rank\}/$i}")
    words=("${words[@]//\{address\}/${addresses[i]}}")
    ip netns exec "${hosts[i]}" env ROTA_HOSTS="$(joined "${addresses[@]}")" ROTA_SLOTS=$slots \
      ROTA_HOST="${addresses[i]}" timeout -k 30 $limit "${words[@]}" >"$folder/out.$i" &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i" || verdict=$?; done
  cat "$folder/out.0"
  return $verdict
}

# on_first COUNT SLOTS COMMAND...: runs the command with the first hosts alone. The others stay,
# since this is a subshell.
on_first() (
  hosts=("${hosts[@]:0:$1}")
  addresses=("${addresses[@]:0:$1}")
  slots=$2
  "${@:3}"
)

# bench_on_ranks ARGUMENT...: runs rota-bench as the ranks of all hosts.
bench_on_ranks() {
  on_each "$bin/rotarun" --ports 7720-7729 --key-file "$folder/key" "$bin/rota-bench" "$@"
}

run_rota() { bench_on_ranks "${@:2}" --json; }

run_gloo() {
  local store
  store=$(mktemp -d -p "$folder")
  on_each "$bin/gloo_bench" "${@:2}" --json --ranks "$1" --rank '{rank}' --store "$store" \
    --address '{address}'
}

run_openmpi() {
  local mpi=${contestant:-openmpi}
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout -k 30 $limit \
    "$folder/agent" "${addresses[0]}" "$(launcher_of "$mpi")" -np "$(($1 * slots))" \
    -H "$(joined "${addresses[@]/%/:$slots}")" --mca plm_rsh_agent "$folder/agent" \
    --mca pml ob1 --mca btl "$([[ $slots == 1 ]] || echo vader,)tcp,self" \
    --mca btl_tcp_if_include 10.0.0.0/24 \
    --mca oob_tcp_if_include 10.0.0.0/24 --mca mpi_yield_when_idle 1 \
    "$bin/${mpi}_bench" "${@:2}" --json
}

# Runs MPICH 5 and Intel MPI. UCX would find out that the hosts share memory, so libfabric moves the
# messages, over TCP. Ranks of Intel MPI yield the cores that all hosts share.
run_mpich() {
  local mpi=${contestant:-mpich}
  timeout -k 30 $limit "$folder/agent" "${addresses[0]}" "$(launcher_of "$mpi")" -np "$(($1 * slots))" \
    -ppn $slots -hosts "$(joined "${addresses[@]}")" -iface cable \
    -launcher ssh -launcher-exec "$folder/agent" \
    -genv FI_PROVIDER tcp -genv FI_TCP_IFACE cable -genv MPIR_CVAR_CH4_NETMOD ofi \
    -genv I_MPI_FABRICS ofi -genv I_MPI_THREAD_YIELD 2 "$bin/${mpi}_bench" "${@:2}" --json
}

# The functions for pairs run the same contestants with two ranks on each host.
run_rota_pairs() { slots=2 run_rota "$@" --plans auto,two-level; }
run_openmpi_pairs() { slots=2 run_openmpi "$@"; }

run_gloo_pairs() {
  local store
  store=$(mktemp -d -p "$folder")
  # Each host's bash expands the string.
  # shellcheck disable=SC2016
  on_each bash -c '"$@" --rank $((2 * {rank})) & "$@" --rank $((2 * {rank} + 1)) && wait $!' - \
    "$bin/gloo_bench" "${@:2}" --json --ranks "$((2 * $1))" --store "$store" --address '{address}'
}
