# clang-tidy over what is compiled, each source once for the same contents. The records of record.sh
# say what has passed. Sources are looked at in the units that they are compiled in: most of the time
# goes into the headers that they share.
# shellcheck shell=bash

# lint_keys FOLDER prints "KEY SOURCE" for each source that is compiled in build/tidy, units included,
# without what else a build generates. Whoever asks for its status has switched off `set -e`.
lint_keys() {
  local folder=$1 common
  [[ -s build/tidy/compile_commands.json ]] || return
  # What is not the tree's own and is included is of packages that are called so.
  common=$(cat .clang-tidy <(clang-tidy --version) \
    <(dpkg-query -W '*-dev' 2>/dev/null) cmake/dev/lint_one.sh | digest)
  {
    find lib launcher examples benchmarks tests -type f '(' -name '*.h' -o -name '*.cpp' ')' -print0
    find build/tidy -type f -path '*/units/*' -name '*.cpp' -print0
  } | xargs -0r sha256sum >"$folder/sums" &&
    cut -c 67- "$folder/sums" | xargs -r -d '\n' grep -HE '^ *# *include' >"$folder/includes" &&
    # A command is the same in each checkout, so it is read without the tree's own path.
    awk -v tree="$PWD" '
      /^ *"(command|file)": "/ {
        while (at = index($0, tree "/")) $0 = substr($0, 1, at - 1) substr($0, at + length(tree) + 1)
        while (at = index($0, tree)) $0 = substr($0, 1, at - 1) "." substr($0, at + length(tree))
        is_file = /^ *"file"/
        gsub(/^ *"[a-z]*": "|",?$/, "")
        if (!is_file) command = $0
        else if (command ~ / -fsanitize=/) next  # The simulation compiles once more what lib/ has.
        else if ((!/^build\// || /\/units\//) && !seen[$0]++) print $0 "\t" command
      }' build/tidy/compile_commands.json >"$folder/commands" &&
    mkdir "$folder/files" &&
    awk -f cmake/dev/depends.awk -v folder="$folder/files" -v common="$common" \
      "$folder/sums" "$folder/includes" "$folder/commands" >"$folder/sources" &&
    [[ -s $folder/sources ]] &&
    seq "$(wc -l <"$folder/sources")" | sed "s|^|$folder/files/|" | xargs sha256sum |
    cut -c 1-64 | paste -d ' ' - "$folder/sources"
}

# changed_lately prints the files of tests/ that the newest commit has changed, or that are not
# committed. Without history there are none.
changed_lately() {
  {
    git diff --name-only HEAD^ -- tests || git diff --name-only HEAD -- tests
    git ls-files --others --exclude-standard tests
  } 2>/dev/null || true
}

# is_of_tests SOURCE, or unit.
is_of_tests() { [[ ${1#build/tidy/} == tests/* ]]; }

# was_changed SOURCE LIST: whether it is one of the listed, or a unit of which one is a part.
was_changed() {
  grep -qxF -e "$1" "$2" || { [[ $1 == build/* ]] && grep -qF -f "$2" "$1"; }
}

# lint [--all] fails where clang-tidy finds something. Of tests/ it sees what has passed before, what
# was changed lately, and what is new since all have passed: all of it takes longer than all else.
lint() {
  local folder key source status=0 left
  folder=$(mktemp -d)
  touch "$folder"/{chosen,left}
  changed_lately >"$folder/lately"
  if ! lint_keys "$folder" >"$folder/keys"; then
    say "clang-tidy: the sources that build/tidy compiles cannot be listed"
    return 1
  fi
  while read -r key source; do
    if has_passed "lint/$source" "$key"; then
      continue
    elif ! is_of_tests "$source" || [[ ${1:-} == --all ]] || was_recorded lint-all ||
      was_recorded "lint/$source" || was_changed "$source" "$folder/lately"; then
      echo "$source" >>"$folder/chosen"
    else
      echo "$source" >>"$folder/left"
    fi
  done <"$folder/keys"
  left=$(wc -l <"$folder/left")
  say "clang-tidy: $(wc -l <"$folder/chosen") of $(wc -l <"$folder/keys") units, as the others \
have passed as they are$( ((left == 0)) || echo ", but for $left of tests/ that never did here")"
  xargs -r -n 1 -P "$(job_count)" cmake/dev/lint_one.sh "$folder" <"$folder/chosen" || status=1
  ((status)) || [[ ${1:-} != --all ]] || note_passed lint-all all
  rm -r "$folder"
  return "$status"
}
