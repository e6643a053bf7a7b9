#!/usr/bin/env bash
# closure.sh FOLDER [--keep-symbols | --sysroot SYSROOT] completes FOLDER, which will be the root
# folder of an image and already has its programs. It adds the loader and all libraries that the
# programs need, and strips the symbols of all files. It does not find a library that a program
# opens by name at run time; rota opens none. Programs for another processor need SYSROOT, a folder
# with Debian's libraries for that processor.
set -euo pipefail
root=$(realpath "$1")
list=own_libraries place="on this machine" strip=strip sysroot='' triple=''
if [[ ${2:-} == --sysroot ]]; then
  sysroot=$(realpath "$3")
  list=foreign_libraries place="in $sysroot"
  triple=$(basename "$sysroot"/usr/lib/*-linux-gnu*)
  strip=$triple-strip
fi

is_elf() { [[ $(head -c 4 "$1" | tr -d '\0') == $'\x7fELF' ]]; }

# Debian's loader searches this folder even without ld.so.cache, on every architecture.
libraries=$root/usr/lib
mkdir -p "$libraries"

# Starting a process for each file would take minutes, and an image may have thousands of files.
candidates=(find "$root" -type f '(' -perm /111 -o -name '*.so' -o -name '*.so.*' ')' -print0)

programs=()
while IFS= read -r -d '' file; do
  ! is_elf "$file" || programs+=("$file")
done < <("${candidates[@]}")

# own_libraries FILE... prints which libraries the files need, and where these are.
own_libraries() {
  local file
  for file in "$@"; do
    LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ldd "$file"
  done
}

# foreign_libraries FILE... prints the same as own_libraries, for files of another processor. ldd
# would have to run their loader.
foreign_libraries() {
  local folder more name path files=("$@")
  local -A listed=()
  LC_ALL=C readelf -lW "$@" | sed -n 's/.*program interpreter: \(.*\)\]$/\1/p' | sort -u
  while ((${#files[@]})); do
    more=()
    while read -r name; do
      [[ ! -v listed[$name] && $name != ld-linux* ]] || continue
      listed[$name]=1
      path=nowhere
      for folder in "$libraries" "$libraries/$triple" "$sysroot"/{,usr/}lib/"$triple"; do
        [[ -e $folder/$name ]] || continue
        path=$folder/$name
        more+=("$path")
        break
      done
      echo "$name => $path"
    done < <(readelf -dW "${files[@]}" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p')
    files=("${more[@]}")
  done
}

# List all libraries before any is added. A library of the folder replaces the machine's own one.
needs=$("$list" "${programs[@]}")
while read -r name arrow path _; do
  to=$libraries/$name
  if [[ $name == /* ]]; then # The loader: programs name its path.
    path=$sysroot$name to=$root$name
  elif [[ $arrow != '=>' ]]; then # The kernel provides this library: it is not a file.
    continue
  elif [[ $path != /* ]]; then
    echo "closure.sh: $name is needed, but is not $place" >&2
    exit 1
  elif [[ $path == "$root"/* ]]; then # The program finds the library where it is.
    continue
  fi
  [[ -e $to ]] || install -D "$(realpath "$path")" "$to"
done <<<"$needs"

# Python's packages have libraries that strip would damage, since patchelf has changed them.
[[ ${2:-} != --keep-symbols ]] || exit 0
while IFS= read -r -d '' file; do
  ! is_elf "$file" || "$strip" --strip-unneeded "$file"
done < <("${candidates[@]}")
