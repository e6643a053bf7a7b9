# Prints the head of a page of docs/benchmarks/: the command, the date, the machine, the commit and
# the flags of the measurement. For scripts that set `bin`, the folder of the programs.
# shellcheck shell=bash

# Elsewhere, awk, printf, sort and EPOCHREALTIME may read and write a comma for the point of a number.
export LC_ALL=C
pages=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
code_folders=(lib launcher benchmarks examples cmake)  # What is measured, and how it is built.

# begin_page: call it before the measurement. Remembers the code, and warns if the machine is busy.
begin_page() {
  remember_code
  warn_if_busy
}

# head_of_page PAGE COMMAND VERSIONS: VERSIONS names the contestants, as in "rota 0.1.0, Gloo 1".
# Call it after the measurement. Fails if the code has changed since begin_page: nobody knows then
# which code was measured.
head_of_page() {
  if ! is_same_code; then
    echo "no page: the code (${code_folders[*]}) changed while $1 was measured; measure again" >&2
    return 1
  fi
  printf '# %s\n\n' "$1"
  {
    echo "Measured by \`$2\` on $(LC_ALL=C date '+%-d %B %Y'): $(cpu),"
    echo "$(nproc) cores, $(awk '/^MemTotal/ {printf "%.0f GB", $2 / 1e6}' /proc/meminfo);"
    echo "Linux $(uname -r);"
    echo "$3."
    echo "Commit \`$(commit_at_begin)\`, $(built_by)."
    [[ -z ${busy:-} ]] || echo "The machine was busy: other work took $busy of it."
  } | paste -sd ' ' | fold -s -w 100 | sed 's/ *$//'
  echo
}

remember_code() { code_at_begin=$(look_at_code); }

# Compares the checksums, since a new commit may have changed only other folders, such as docs.
is_same_code() {
  local now
  now=$(look_at_code) && [[ ${now#* } == "${code_at_begin#* }" ]]
}

commit_at_begin() { echo "${code_at_begin%% *}"; }

# look_at_code: prints the commit, with -dirty if the code differs from it, and a checksum of all
# that the folders have. Without a commit it prints "unknown": then no change is noticed.
look_at_code() (
  cd "$pages/../.." || return
  # The commit may be of a checkout of another project, into which an archive was unpacked.
  [[ $(git rev-parse --show-toplevel 2>/dev/null) == "$(pwd -P)" ]] &&
    commit=$(git describe --always --abbrev=12 2>/dev/null) || {
    echo unknown
    return
  }
  changes=$(git diff HEAD -- "${code_folders[@]}" &&
    git ls-files -zo --exclude-standard -- "${code_folders[@]}" | xargs -0r sha256sum) || return
  [[ -z $changes ]] || commit+=-dirty
  echo "$commit $({ git ls-tree HEAD "${code_folders[@]}" && echo "$changes"; } | sha256sum)"
)

# warn_if_busy: sets `busy`, which the head states, if other work takes more than a tenth of the
# machine. The load average would still include the measurement before this one.
warn_if_busy() {
  local share
  share=$({ head -1 /proc/stat && sleep 1 && head -1 /proc/stat; } | awk '
    {idle = $5 + $6 - last_idle; all = -last_all; for (i = 2; i <= 9; ++i) all += $i}
    {last_idle += idle; last_all += all}
    END {printf "%.0f", 100 * (1 - idle / all)}')
  ((share > 10)) || return 0
  busy="$share %"
  echo "this machine is busy (other work takes $busy): the results below are not reliable" >&2
}

# Prints the name, the family and the model of the CPU, because several generations have one name.
cpu() {
  awk -F ': *' '$1 ~ /^model name/ {name = $2} $1 ~ /^cpu family/ {family = $2}
    $1 ~ /^model\t/ {model = $2} /^$/ {exit}
    END {
      if (name == "") name = "unknown CPU"
      if (family != "") name = name " (family " family ", model " model ")"
      print name
    }' /proc/cpuinfo
}

# Prints the build flags that CMake has written: "preset release, GNU 12.2.0 with -O3".
built_by() { cat "$bin/../benchmarks/built_by.txt" 2>/dev/null || echo "compiler unknown"; }
