# Makes $planted_tree, the copy of the tree in which faults are planted. The copy has its own
# builds, which all faults reuse.
# shellcheck shell=bash

# sums_in FOLDER prints the digest and the name of each file of a tree, except built files.
sums_in() {
  (cd "$1" && find . '(' -path ./build -o -path ./.git ')' -prune -o -type f -print0 |
    LC_ALL=C sort -z | xargs -0r sha256sum)
}

# renew_copy makes the copy equal to the tree, or fails. It writes only files that differ, so only
# these files are newer than the objects that were compiled from them.
renew_copy() {
  local here there name
  mkdir -p "$planted_tree"
  here=$(sums_in .)
  there=$(sums_in "$planted_tree")
  while read -r name; do
    [[ -z $name ]] || rm "$planted_tree/$name" || return
  done < <(LC_ALL=C comm -13 <(cut -c 67- <<<"$here") <(cut -c 67- <<<"$there"))
  while read -r name; do
    [[ -z $name ]] || cp --remove-destination --parents "$name" "$planted_tree" || return
  done < <(LC_ALL=C comm -23 <(LC_ALL=C sort <<<"$here") <(LC_ALL=C sort <<<"$there") | cut -c 67-)
}

# in_copy COMMAND...
in_copy() { (cd "$planted_tree" && "$@"); }

# programs_of TEST PRESET prints the targets that a test needs. TEST is a regular expression for
# names of ctest. The targets are the program whose name begins the name of the test (faults_test in
# faults_test.Suite.Name), and the programs in the command of the test.
programs_of() {
  local folder=$planted_tree/build/$2 name
  name=$(sed 's/^^//; s/[^A-Za-z0-9_-].*//' <<<"$1")
  {
    echo "$name"
    find "$folder" -name CTestTestfile.cmake -exec sed -n 's/^add_test(\[=\[//p' {} + |
      awk -F']=]' -v test="$1" '$1 ~ test' | grep -o '"[^"]*"' | tr -d '"' | sed 's|.*/||'
  } | LC_ALL=C sort -u |
    LC_ALL=C comm -12 - \
      <(ninja -C "$folder" -t targets all | sed -n 's/^\([A-Za-z0-9_-]*\): .*/\1/p' | LC_ALL=C sort)
}
