# Decides which lanes can be skipped. A file .ci/lanes/NAME lists what the lane depends on. The lane
# is skipped if nothing in this list has changed since the lane last passed on this machine. .ci/run
# runs in the root of the tree and includes this file.
# shellcheck shell=bash
source cmake/dev/packages.sh
source cmake/dev/record.sh

# lane_key NAME prints a digest of the contents below the listed paths, the output of the listed
# commands, the versions of the packages in the listed groups, and the list itself.
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

# lane_packages NAME installs the packages that a lane depends on, because only an installed package
# has a version.
lane_packages() {
  local groups
  groups=$(sed -n 's/^packages: *//p' ".ci/lanes/$1")
  # shellcheck disable=SC2086  # The variable has several names of groups.
  ./dev setup $groups
}

# If a lane was left out for lack of time, or has failed, it is owed: the next run on this machine
# begins with it.
owe() { note_passed "owed/$1" "$(machine | digest)"; }
is_owed() { has_passed "owed/$1" "$(machine | digest)"; }
settle() { rm -f "$kept/passed/owed/$1"; }
