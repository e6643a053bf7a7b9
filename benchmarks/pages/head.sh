# Prints the head of a page of docs/benchmarks/: the command, the date, the machine and the sources
# of the measurement. For scripts that set `bin`, the folder of the programs.
# shellcheck shell=bash

pages=$(dirname "$(realpath "${BASH_SOURCE[0]}")")

# begin_page PAGE: call it before the measurement. Warns if the machine is busy, and remembers the
# digest of the sources.
begin_page() {
  warn_if_busy
  digest_at_begin=$("$pages/digest.sh" "$1")
  export digest_at_begin
}

# head_of_page PAGE COMMAND VERSIONS: VERSIONS names the contestants, as in "rota 0.1.0, Gloo 1".
# Fails if the sources have changed since begin_page: the measured sources are unknown then.
head_of_page() {
  if [[ $("$pages/digest.sh" "$1") != "$digest_at_begin" ]]; then
    echo "no page: the sources that $1 measures have changed meanwhile; measure again" >&2
    return 1
  fi
  printf '# %s\n\n' "$1"
  {
    echo "Measured by \`$2\` on $(LC_ALL=C date '+%-d %B %Y'): $(cpu),"
    echo "$(nproc) cores, $(awk '/^MemTotal/ {printf "%.0f GB", $2 / 1e6}' /proc/meminfo);"
    echo "Linux $(uname -r);"
    echo "$3."
    echo "Commit \`$(commit_of "$1")\`, $(built_by);"
    echo "sources \`$digest_at_begin\`."
    [[ -z ${busy:-} ]] || echo "The machine was busy: other work took $busy of it."
  } | paste -sd ' ' | fold -s -w 100 | sed 's/ *$//'
  echo
}

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

# commit_of PAGE: prints the commit, with -dirty if the sources of the page differ from it.
commit_of() {
  local root commit sources
  root=$(realpath "$pages/../..")
  [[ $(git -C "$root" rev-parse --show-toplevel 2>/dev/null) == "$root" ]] &&
    commit=$(git -C "$root" describe --always --abbrev=12 2>/dev/null) || {
    echo unknown
    return
  }
  mapfile -t sources < <("$pages/digest.sh" --sources "$1")
  [[ -z $(git -C "$root" status --porcelain -- "${sources[@]}") ]] || commit+=-dirty
  echo "$commit"
}

# Prints the build flags that CMake has written: "preset release, GNU 12.2.0 with -O3".
built_by() { cat "$bin/../benchmarks/built_by.txt" 2>/dev/null || echo "compiler unknown"; }
