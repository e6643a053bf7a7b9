#!/usr/bin/env bash
# run_paths.sh PREFIX BUILD: each installed program and library looks for others in the folders in
# which it was linked with them, as it did in the build. OpenBLAS may be in a folder of its own.
set -euo pipefail
prefix=$1 build=$2

folders_of() {
  { readelf -d "$1" 2>/dev/null || true; } | sed -nE 's/.*\((RUNPATH|RPATH)\).*\[(.*)\]/\2/p' |
    tr ':' '\n' | sort -u | sed '/^$/d'
}

has_checked=0
for name in rota{run,run-hosts,run-pmix,-bench,-checkpoint,-manifest,-preflight} librota.so; do
  built=$build/bin/$name
  [[ $name != *.so ]] || built=$build/lib/$name
  installed=$(find "$prefix" -path "$prefix/share" -prune -o -name "$name" -print -quit)
  [[ -e $built && -n $installed ]] || continue
  has_checked=1
  lost=$(comm -23 <(folders_of "$built" | sed "\|^$build|d") <(folders_of "$installed"))
  [[ -z $lost ]] || {
    echo "$installed does not look where $built finds libraries: $lost" >&2
    exit 1
  }
  if folders_of "$installed" | grep -F "$build"; then
    echo "$installed looks for libraries in the build" >&2
    exit 1
  fi
done
((has_checked))
