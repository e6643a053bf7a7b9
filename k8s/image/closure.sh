#!/usr/bin/env bash
# closure.sh FOLDER makes FOLDER, which holds programs and libraries where an image is to have them,
# a root that they run from: it adds the libraries they need and the loader, and strips them all of
# symbols. A library that a program opens by name at run time is not seen; rota opens none.
set -euo pipefail
root=$(realpath "$1")

is_elf() { [[ $(head -c 4 "$1" | tr -d '\0') == $'\x7fELF' ]]; }

# Debian's loader looks there without a table, for whatever architecture.
libraries=$root/usr/lib
mkdir -p "$libraries"

programs=()
while IFS= read -r -d '' file; do
  ! is_elf "$file" || programs+=("$file")
done < <(find "$root" -type f -print0)

# Asked before anything is added; the libraries of the folder come before those of the machine.
needs=$(for file in "${programs[@]}"; do
  LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ldd "$file"
done)
while read -r name arrow path _; do
  to=$libraries/$name
  if [[ $name == /* ]]; then # The loader, which programs name by its path.
    path=$name to=$root$name
  elif [[ $arrow != '=>' ]]; then # The kernel's, which is no file.
    continue
  elif [[ $path != /* ]]; then
    echo "closure.sh: $name is needed, and is not on this machine" >&2
    exit 1
  fi
  [[ -e $to ]] || install -D "$(realpath "$path")" "$to"
done <<<"$needs"

while IFS= read -r -d '' file; do
  ! is_elf "$file" || strip --strip-unneeded "$file"
done < <(find "$root" -type f -print0)
