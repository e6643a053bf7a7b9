# The head of a page of docs/benchmarks/: by what command, when, on what machine and of which
# sources it was measured. For scripts that set `bin`, the folder of the programs.
# shellcheck shell=bash

pages=$(dirname "$(realpath "${BASH_SOURCE[0]}")")

# begin_page PAGE, before anything is measured: warns where the machine is busy, and remembers what
# is measured.
begin_page() {
  warn_if_busy
  digest_at_begin=$("$pages/digest.sh" "$1")
  export digest_at_begin
}

# head_of_page PAGE COMMAND VERSIONS: of who took part, as in "rota 0.1.0, Gloo 1". Fails where the
# sources are no more what begin_page saw: nobody knows then what was measured.
head_of_page() {
  if [[ $("$pages/digest.sh" "$1") != "$digest_at_begin" ]]; then
    echo "no page: what $1 measures has changed meanwhile; measure again" >&2
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

# warn_if_busy: sets `busy`, which the head says, where other work takes more than a tenth of the
# machine. The load average would still be that of what was measured before.
warn_if_busy() {
  local share
  share=$({ head -1 /proc/stat && sleep 1 && head -1 /proc/stat; } | awk '
    {idle = $5 + $6 - last_idle; all = -last_all; for (i = 2; i <= 9; ++i) all += $i}
    {last_idle += idle; last_all += all}
    END {printf "%.0f", 100 * (1 - idle / all)}')
  ((share > 10)) || return 0
  busy="$share %"
  echo "this machine is busy (by $busy): what follows is of little worth" >&2
}

# One model name stands for several generations.
cpu() {
  awk -F ': *' '$1 ~ /^model name/ {name = $2} $1 ~ /^cpu family/ {family = $2}
    $1 ~ /^model\t/ {model = $2} /^$/ {exit}
    END {
      if (name == "") name = "unknown CPU"
      if (family != "") name = name " (family " family ", model " model ")"
      print name
    }' /proc/cpuinfo
}

# commit_of PAGE: with -dirty where the page's own sources are not those of the commit.
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

# What CMake has noted beside the programs: "preset release, GNU 12.2.0 with -O3".
built_by() { cat "$bin/../benchmarks/built_by.txt" 2>/dev/null || echo "compiler unknown"; }
