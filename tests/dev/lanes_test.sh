#!/usr/bin/env bash
# A lane may be skipped if nothing relevant changed. The lane runs after a change in anything that
# its list names, and if this machine has no matching record.
# ShellCheck does not know that the quoted scripts expand their own variables, and that expect calls
# functions.
# shellcheck disable=SC2016,SC2317

source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"

(cd "$source_tree" && tar -c --exclude=./build --exclude=./.git .) | tar -x
source cmake/dev/say.sh
source .ci/lanes.sh
: >output

is_unchanged() { has_passed "lanes/$1" "$(lane_key "$1")"; }
is_due() { ! is_unchanged "$1"; }

# in_each_place LANE COMMAND...: runs the command for each path in the lane's list, with one file
# changed.
in_each_place() {
  local path file
  while read -r path; do
    file=$(find "$path" -type f -printf '%s %p\n' | sort -n | sed -n '1s/^[0-9]* //p')
    expect "$1: $path has a file" test -n "$file"
    cp "$file" before
    echo >>"$file"
    expect "$1 would run with $file changed" "${@:2}"
    cp before "$file"
  done < <(grep -v -e '^#' -e : ".ci/lanes/$1")
}

# is_listed LANE PATH: the lane's list has the path, or a folder above it.
is_listed() {
  local path=$2
  until grep -qxF "$path" ".ci/lanes/$1"; do
    [[ $path == */* ]] || return
    path=${path%/*}
  done
}

# names_headers LANE: the lane's list has each header of tests/ that its tests include.
names_headers() {
  local header
  while read -r header; do
    [[ ! -e tests/$header ]] || expect "lanes/$1 has tests/$header" is_listed "$1" "tests/$header"
  done < <(grep '^tests/' ".ci/lanes/$1" | xargs -r grep -rhoE '^#include "[^"]+"' |
    cut -d '"' -f 2 | sort -u)
}

for list in .ci/lanes/*; do
  lane=${list##*/}
  names_headers "$lane"
  expect "$lane would run without a record" is_due "$lane"
  note_passed "lanes/$lane" "$(lane_key "$lane")"
  expect "$lane need not run" is_unchanged "$lane"
  in_each_place "$lane" is_due "$lane"
  expect "$lane need not run with all as it was" is_unchanged "$lane"

  echo >>README.md
  touch docs/not_listed tests/CMakeLists.txt
  expect "$lane need not run for what it does not name" is_unchanged "$lane"
  echo >>"$list"
  expect "$lane would run with another list" is_due "$lane"
  note_passed "lanes/$lane" "$(lane_key "$lane")"

  # Now the compiler is another one.
  fake c++ <<<'echo "c++ 99"'
  expect "$lane would run with another compiler" is_due "$lane"
  rm fake/c++
  expect "$lane need not run with the same again" is_unchanged "$lane"
  # Now the record is another machine's.
  expect "$lane would run elsewhere" bash -c 'source cmake/dev/say.sh; source .ci/lanes.sh
    machine() { echo another; }
    ! has_passed "lanes/$1" "$(lane_key "$1")"' - "$lane"
  # Now the record is damaged.
  head -c 40 "$kept/passed/lanes/$lane" >half && mv half "$kept/passed/lanes/$lane"
  expect "$lane would run with a cut record" is_due "$lane"
  head -c 999 /dev/urandom >"$kept/passed/lanes/$lane"
  expect "$lane would run with a record of noise" is_due "$lane"
  note_passed "lanes/$lane" "$(lane_key "$lane")"
  expect "a damaged record is replaced" is_unchanged "$lane"
  rm "$kept/passed/lanes/$lane"
  mkdir "$kept/passed/lanes/$lane"
  expect "$lane would run with a folder for a record" is_due "$lane"
done
exit "$failures"
