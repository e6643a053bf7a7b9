#!/usr/bin/env bash
# one_mpi.sh PROGRAM COMMAND...: runs the program by the command, such as mpirun -np 2. Before that,
# makes sure that the program loads one MPI. With two, the order of symbols decides which is called.
set -euo pipefail
program=$1

libraries=$(ldd "$program" | grep -oE '^\s*libmpi(ch)?\.so\S*' || true)
(($(wc -w <<<"$libraries") == 1)) || {
  echo "$program is to load one MPI, and loads: ${libraries//$'\n'/ }" >&2
  exit 1
}
exec "${@:2}" "$program"
