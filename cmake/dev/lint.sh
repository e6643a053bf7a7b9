# Runs clang-tidy on the compiled sources, except those that have passed with the same contents: see
# record.sh. clang-tidy checks the units in which sources are compiled, because it spends most of
# its time in the headers that these sources share.
# shellcheck shell=bash

# lint_keys FOLDER prints "KEY SOURCE" for each source that is compiled in build/tidy. The key is a
# digest of all that clang-tidy's verdict depends on: the source, what it includes, its command and
# clang-tidy itself. Units count as sources, and other generated files do not. A caller that tests
# the status switches off `set -e` here, so the commands are joined by &&.
lint_keys() {
  local folder=$1 common
  [[ -s build/tidy/compile_commands.json ]] || return
  # Includes from outside of the tree come from packages named *-dev.
  common=$(cat .clang-tidy <(clang-tidy --version) \
    <(dpkg-query -W '*-dev' 2>/dev/null) cmake/dev/lint_one.sh | digest)
  {
    find lib launcher examples benchmarks tests -type f '(' -name '*.h' -o -name '*.cpp' ')' -print0
    find build/tidy -type f -path '*/units/*' -name '*.cpp' -print0
  } | xargs -0r sha256sum >"$folder/sums" &&
    cut -c 67- "$folder/sums" | xargs -r -d '\n' grep -HE '^ *# *include' >"$folder/includes" &&
    # Removes the path of the tree from the commands, so that they are the same in each checkout.
    awk -v tree="$PWD" '
      /^ *"(command|file)": "/ {
        while (at = index($0, tree "/")) $0 = substr($0, 1, at - 1) substr($0, at + length(tree) + 1)
        while (at = index($0, tree)) $0 = substr($0, 1, at - 1) "." substr($0, at + length(tree))
        is_file = /^ *"file"/
        gsub(/^ *"[a-z]*": "|",?$/, "")
        if (!is_file) command = $0
        else if (command ~ / -fsanitize=/) next  # The simulation compiles lib/ a second time.
        else if ((!/^build\// || /\/units\//) && !seen[$0]++) print $0 "\t" command
      }' build/tidy/compile_commands.json >"$folder/commands" &&
    mkdir "$folder/files" &&
    awk -f cmake/dev/depends.awk -v folder="$folder/files" -v common="$common" \
      "$folder/sums" "$folder/includes" "$folder/commands" >"$folder/sources" &&
    [[ -s $folder/sources ]] &&
    seq "$(wc -l <"$folder/sources")" | sed "s|^|$folder/files/|" | xargs sha256sum |
    cut -c 1-64 | paste -d ' ' - "$folder/sources"
}

# changed_lately prints the files of tests/ that the newest commit has changed, or that have
# uncommitted changes. Without a git history it prints nothing.
changed_lately() {
  {
    git diff --name-only HEAD^ -- tests || git diff --name-only HEAD -- tests
    git ls-files --others --exclude-standard tests
  } 2>/dev/null || true
}

# is_of_tests SOURCE succeeds if the source or unit is in tests/.
is_of_tests() { [[ ${1#build/tidy/} == tests/* ]]; }

# was_changed SOURCE LIST succeeds if the source is in the list, or if it is a unit that includes a
# listed source.
was_changed() {
  grep -qxF -e "$1" "$2" || { [[ $1 == build/* ]] && grep -qF -f "$2" "$1"; }
}

# lint [--all] fails if clang-tidy finds something. Without --all, and until one run with --all has
# passed, it leaves out sources of tests/ that it has never checked and that were not changed
# lately. Otherwise the first run would spend most of its time in tests/.
lint() {
  local folder key source status=0 left
  folder=$(mktemp -d)
  touch "$folder"/{chosen,left}
  changed_lately >"$folder/lately"
  if ! lint_keys "$folder" >"$folder/keys"; then
    say "clang-tidy: cannot list the sources that build/tidy compiles"
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
  say "clang-tidy: checks $(wc -l <"$folder/chosen") of $(wc -l <"$folder/keys") units; the others \
have passed unchanged$( ((left == 0)) || echo ", except $left of tests/, never checked here")"
  xargs -r -n 1 -P "$(job_count)" cmake/dev/lint_one.sh "$folder" <"$folder/chosen" || status=1
  ((status)) || [[ ${1:-} != --all ]] || note_passed lint-all all
  rm -r "$folder"
  return "$status"
}
