# Records which checks have passed, in a folder outside of the tree, so that no check runs twice on
# the same contents. A record is a list of digests, the newest first. A damaged record contains no
# matching digest, so the check runs again.
# shellcheck shell=bash

# The folder of files that are kept between runs: compiled objects, records, the programs of the
# cluster.
kept=${ROTA_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/rota}

digest() { sha256sum | cut -c 1-64; }

# digest_of PATH... prints the digest of the names, modes and contents of all files there. A missing
# path changes the digest too.
digest_of() {
  {
    LC_ALL=C ls -d "$@" 2>&1 || true
    find "$@" '(' -type f -o -type l ')' -printf '%m %p %l\n' 2>/dev/null | LC_ALL=C sort || true
    find "$@" -type f -print0 2>/dev/null | LC_ALL=C sort -z | xargs -0r sha256sum || true
  } | digest
}

# Prints facts that distinguish this machine from others.
machine() {
  cat /etc/machine-id /proc/sys/kernel/hostname 2>/dev/null || true
  sed -n '/^model name/{p;q}' /proc/cpuinfo
}

# has_passed NAME DIGEST
has_passed() { grep -qsxF -e "$2" "$kept/passed/$1"; }

# was_recorded NAME succeeds if the check has ever passed, with any contents.
was_recorded() { [[ -s $kept/passed/$1 ]]; }

# note_passed NAME DIGEST records that the check has passed. The record keeps eight digests, because
# several checkouts may share it. If the folder cannot be written, nothing is recorded.
note_passed() {
  local file=$kept/passed/$1 new
  mkdir -p "${file%/*}" 2>/dev/null && new=$(mktemp "$file.XXXXXX" 2>/dev/null) || return 0
  if { echo "$2" && { head -n 7 "$file" 2>/dev/null || true; }; } >"$new"; then
    mv "$new" "$file"
  else
    rm -f "$new"
  fi
}
