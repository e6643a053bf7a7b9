#!/usr/bin/env bash
# shared_library.sh LIBRARY: its soname, and that it shows rota's public face alone.
set -euo pipefail
library=$1

soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[[ $soname == librota.so.0 ]] || {
  echo "the soname is '$soname'" >&2
  exit 1
}

symbols=$(nm -D --defined-only "$library" | cut -d ' ' -f 3)
strangers=$(grep -vE '^_Z(T[ISTV])?NK?4rota' <<<"$symbols" || true)
# Without arguments and what a name is of: "rota::Error::code". Inside lie namespaces, and the
# classes that public ones hide.
insides=$(c++filt <<<"$symbols" | sed -E 's/\(.*//; s/^([a-z ]+ for|[a-z]+) //' |
  grep -E '^rota::([a-z_0-9]+::|.*::(Impl|Source)(::|$))' || true)
if [[ -n $strangers || -n $insides ]]; then
  printf 'shown, and not the public face:\n%s\n%s\n' "$strangers" "$insides" >&2
  exit 1
fi
grep -q '^_ZN4rota12Communicator' <<<"$symbols" || {
  echo "does not show rota::Communicator" >&2
  exit 1
}
