#!/usr/bin/env bash
# Prints the digest of the sources that a page of docs/benchmarks/ measures, according to
# sources.txt. The digest covers their names and contents, so that no git history is needed.
# Comments and empty lines do not count, since they change nothing that is measured.
#
# usage: digest.sh [--sources] PAGE [ROOT]
# PAGE has no suffix: all-reduce. ROOT is the project's root, by default the tree of this file.
# --sources prints the folders and files instead.
set -euo pipefail
wants_sources=
if [[ ${1:-} == --sources ]]; then wants_sources=1 && shift; fi
(($# == 1 || $# == 2)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
page=$1
cd "${2:-$(dirname "${BASH_SOURCE[0]}")/../..}"

# sources_of ROW: prints each source on a line. Replaces @words by the sources of their rows.
sources_of() {
  local word
  for word in $(awk -v row="$1:" '$1 == row {$1 = ""; print}' benchmarks/pages/sources.txt); do
    # A missing row is then reported as a missing file.
    if grep -q "^$word:" benchmarks/pages/sources.txt; then sources_of "$word"; else echo "$word"; fi
  done
}

mapfile -t sources < <(sources_of "$page" | LC_ALL=C sort -u)
((${#sources[@]})) || {
  echo "digest.sh: benchmarks/pages/sources.txt has no row for $page" >&2
  exit 1
}
for source in "${sources[@]}"; do
  [[ -e $source ]] || {
    echo "digest.sh: benchmarks/pages/sources.txt: $page measures $source, which is not there" >&2
    exit 1
  }
done
if [[ -n $wants_sources ]]; then
  printf '%s\n' "${sources[@]}"
  exit
fi

# code_of FILE...: prints the name and the lines of each file, without comments.
code_of() {
  awk '
    FNR == 1 {print "== " FILENAME; is_cpp = FILENAME ~ /\.(h|cpp)$/}
    is_cpp && /^[ \t]*\/\// {next}
    !is_cpp && /^[ \t]*#([^!]|$)/ {next}
    is_cpp {sub(/[ \t]+\/\/ .*$/, "")}
    /[^ \t]/ {print}' "$@"
}

mapfile -td '' files < <(find "${sources[@]}" -type f '(' -name '*.h' -o -name '*.cpp' \
  -o -name '*.sh' -o -name '*.py' -o -name CMakeLists.txt ')' -print0 | LC_ALL=C sort -zu)
code_of "${files[@]}" | sha256sum | head -c 16
echo
