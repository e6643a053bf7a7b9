#!/usr/bin/env bash
# without_mpi_libraries.sh PREFIX COPY: copies an installed package, but none of its libraries for
# MPIs. So the copy is like a package that was built where no MPI was.
set -euo pipefail
prefix=$1 copy=$2

rm -rf "$copy"
cp -a "$prefix" "$copy"
find "$copy" \( -name 'librota_mpi_*' -o -name 'rota-mpi-targets*.cmake' \) -delete
