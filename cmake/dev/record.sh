# Records of what has passed, in a folder outside of the tree, so that nothing is done twice for the
# same contents. A record is a list of digests, the newest first; one that is damaged has none that
# fits.
# shellcheck shell=bash

# What is kept between runs: compiled objects, records, the cluster's programs.
kept=${ROTA_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/rota}

digest() { sha256sum | cut -c 1-64; }

# digest_of PATH...: of the names, modes and contents of all files there. One that is missing counts
# too.
digest_of() {
  {
    LC_ALL=C ls -d "$@" 2>&1 || true
    find "$@" '(' -type f -o -type l ')' -printf '%m %p %l\n' 2>/dev/null | LC_ALL=C sort || true
    find "$@" -type f -print0 2>/dev/null | LC_ALL=C sort -z | xargs -0r sha256sum || true
  } | digest
}

# What tells this machine from another.
machine() {
  cat /etc/machine-id /proc/sys/kernel/hostname 2>/dev/null || true
  sed -n '/^model name/{p;q}' /proc/cpuinfo
}

# has_passed NAME DIGEST
has_passed() { grep -qsxF -e "$2" "$kept/passed/$1"; }

# was_recorded NAME: whether it has passed at all, whatever its contents were.
was_recorded() { [[ -s $kept/passed/$1 ]]; }

# note_passed NAME DIGEST. Several checkouts may take turns, so more than the last is kept. Where
# nothing can be kept, nothing is.
note_passed() {
  local file=$kept/passed/$1 new
  mkdir -p "${file%/*}" 2>/dev/null && new=$(mktemp "$file.XXXXXX" 2>/dev/null) || return 0
  if { echo "$2" && { head -n 7 "$file" 2>/dev/null || true; }; } >"$new"; then
    mv "$new" "$file"
  else
    rm -f "$new"
  fi
}
