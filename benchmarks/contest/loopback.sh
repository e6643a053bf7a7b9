# Starts the contestants so that they use TCP over the loopback of this host, for run.sh.
# shellcheck shell=bash

run_rota() {
  timeout -k 30 $limit "$bin/rotarun" -np "$1" --transport tcp "$bin/rota-bench" "${@:2}" --json
}

run_openmpi() {
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout -k 30 $limit \
    "$(launcher_of openmpi)" -np "$1" --mca pml ob1 --mca btl tcp,self \
    --mca btl_tcp_if_include lo "$bin/openmpi_bench" "${@:2}" --json
}

run_socket() { timeout -k 30 $limit "$bin/socket_bench" "${@:2}" --json; }
