#!/usr/bin/env bash
# shared_library.sh LIBRARY: checks the library's soname, and that the library exports only rota's
# public interface.
set -euo pipefail
library=$1

soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[[ $soname == librota.so.0.1 ]] || {
  echo "the soname of $library is '$soname', not 'librota.so.0.1'" >&2
  exit 1
}

symbols=$(nm -D --defined-only "$library" | cut -d ' ' -f 3)
strangers=$(grep -vE '^_Z(T[ISTV])?NK?4rota' <<<"$symbols" || true)
# Names without arguments and without the kind of symbol: "rota::Error::code". Inner names are those
# in inner namespaces, and the classes that public ones hide. The library of an MPI calls two
# functions of rota::mpi, and those for GPUs call functions of rota::cuda and rota::nccl.
insides=$(c++filt <<<"$symbols" | sed -E 's/\(.*//; s/^([a-z ]+ for|[a-z]+) //' |
  grep -E '^rota::([a-z_0-9]+::|.*::(Impl|Source)(::|$))' |
  grep -vE '^rota::(mpi::communicators?_over|cuda::use(_devices)?|nccl::use)$' || true)
if [[ -n $strangers || -n $insides ]]; then
  printf 'librota.so exports names that are not public:\n%s\n%s\n' "$strangers" "$insides" >&2
  exit 1
fi
grep -q '^_ZN4rota12Communicator' <<<"$symbols" || {
  echo "$library does not export rota::Communicator" >&2
  exit 1
}
