#!/usr/bin/env bash
# mpi_mixed.sh PREFIX MAIN COMPILER OUTPUT: a program of Open MPI cannot be linked with the library
# of rota for MPICH. The linker names the function that is missing.
set -euo pipefail
prefix=$1 main=$2 compiler=$3 output=$4

folder=$(dirname "$(find "$prefix" -name librota_mpi_openmpi.so)")
mkdir -p "$(dirname "$output")"

# link_with MPI: links the program with the library for this MPI.
link_with() {
  "$compiler" -std=c++20 -DOMPI_SKIP_MPICXX=1 "-I$prefix/include" "$main" -o "$output" \
    "-L$folder" -lrota "-lrota_mpi_$1"
}

link_with openmpi
if said=$(link_with mpich 2>&1); then
  echo "a program of Open MPI was linked with rota's library for MPICH" >&2
  exit 1
fi
[[ $said == *rota_calls_of_openmpi* ]] || {
  echo "the linker does not name the missing function: $said" >&2
  exit 1
}
