# Lanes that need not run: each lists in .ci/lanes/NAME what it depends on, and runs unless that is
# as it was when the lane last passed on this machine. Sourced by .ci/run, from the tree's root.
# shellcheck shell=bash
source cmake/dev/packages.sh
source cmake/dev/record.sh

# lane_key NAME: of the contents below the listed paths, of what the listed commands say and of the
# versions of the packages of the listed groups; and of the list itself.
lane_key() {
  local list=.ci/lanes/$1 word rest paths group
  paths=("$list")
  {
    machine
    while read -r word rest; do
      case $word in
        '' | '#'*) ;;
        says:) bash -c "$rest" 2>&1 || true ;;
        packages:)
          for group in $rest; do packages_of "$group"; done | xargs dpkg-query -W 2>&1 || true
          ;;
        *) paths+=("$word") ;;
      esac
    done <"$list"
    digest_of "${paths[@]}"
  } | digest
}

# lane_packages NAME installs the packages that a lane depends on: what is not there has no version.
lane_packages() {
  local groups
  groups=$(sed -n 's/^packages: *//p' ".ci/lanes/$1")
  # shellcheck disable=SC2086  # Names of groups.
  ./dev setup $groups
}

# A lane that the clock has left out, or that has failed, is owed: it is the first of the next run on
# this machine.
owe() { note_passed "owed/$1" "$(machine | digest)"; }
is_owed() { has_passed "owed/$1" "$(machine | digest)"; }
settle() { rm -f "$kept/passed/owed/$1"; }
