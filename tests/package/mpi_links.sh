#!/usr/bin/env bash
# mpi_links.sh PREFIX: only the libraries of the component mpi are linked with an MPI, and they are
# not linked with librota, which the program may have as a static library.
set -euo pipefail
prefix=$1

for file in "$prefix"/lib*/librota.so "$prefix"/lib*/*/librota.so "$prefix"/bin/*; do
  [[ -e $file ]] || continue
  if readelf -d "$file" | grep -E 'NEEDED.*(libmpi|libmpich|libpmix)'; then
    echo "$file is linked with the libraries above" >&2
    exit 1
  fi
done
for file in "$prefix"/lib*/librota_mpi_*.so "$prefix"/lib*/*/librota_mpi_*.so; do
  [[ -e $file ]] || continue
  if readelf -d "$file" | grep -E 'NEEDED.*librota'; then
    echo "$file is linked with librota" >&2
    exit 1
  fi
done
