# Completes the command line of rotarun in bash: its flags, their values, and then the program.

# Completes the words after the program with the completion of the program, if it has one.
_rotarun_program() {
  local at=$1
  if declare -F _command_offset >/dev/null; then
    _command_offset "$at"
  elif ((COMP_CWORD == at)); then
    compopt -o filenames
    local word=${COMP_WORDS[at]}
    mapfile -t COMPREPLY < <({ compgen -c -- "$word"; compgen -f -- "$word"; } | sort -u)
  else
    compopt -o default
  fi
}

_rotarun_value() {
  local flag=$1 word=$2
  case $flag in
    --bind-to) mapfile -t COMPREPLY < <(compgen -W "none core numa" -- "$word") ;;
    --map-by) mapfile -t COMPREPLY < <(compgen -W "slot node ppr:1:node core numa" -- "$word") ;;
    --mpi) mapfile -t COMPREPLY < <(compgen -W "auto pmix pmi none" -- "$word") ;;
    --role) mapfile -t COMPREPLY < <(compgen -W "worker evaluator" -- "$word") ;;
    --stop-signal) mapfile -t COMPREPLY < <(compgen -W "USR1 USR2" -- "$word") ;;
    --when-done) mapfile -t COMPREPLY < <(compgen -W "exit wait" -- "$word") ;;
    --rank-by) mapfile -t COMPREPLY < <(compgen -W "slot node" -- "$word") ;;
    --transport) mapfile -t COMPREPLY < <(compgen -W "auto shm tcp mpi" -- "$word") ;;
    --hostfile | --key-file | --tuned)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      ;;
    --output-filename | --wdir | --prefix)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -d -- "$word")
      ;;
    -x | --export) mapfile -t COMPREPLY < <(compgen -v -- "$word") ;;
  esac
}

# Completes rotarun render up to the "--". The command line of rotarun begins after it.
_rotarun_render() {
  local word=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD - 1]} at
  local flags="--name --workers --slots --image --kind --gpu --cpu --cpu-request --memory --parameters
    --data-claim --data-size --key-secret --namespace --restarts --check --help"
  for ((at = 2; at < COMP_CWORD; ++at)); do
    [[ ${COMP_WORDS[at]} != -- ]] || { _rotarun_program $((at + 1)); return; }
  done
  if [[ $flag == --kind ]]; then
    mapfile -t COMPREPLY < <(compgen -W "job jobset trainjob statefulset" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$word")
  elif [[ " ${COMP_WORDS[*]} " == *" --check "* ]]; then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}

_rotarun() {
  local with_value=" -n --np -np -H --host --hostfile --agent --prefix --address --key-file --key-fd --join-timeout -x --export --bind-to --map-by
    --rank-by --cpus-per-rank --ports --transport --tuned --output-filename --wdir --role --mpi --timeout --deadline --grace
    --stop-signal --status-port --when-done "
  local flags="--np --host --hostfile --this-host --agent --prefix --address --key-file --key-fd --encrypt --insecure --join-timeout --export --bind-to
    --map-by --rank-by --cpus-per-rank --oversubscribe --share-devices --mpi --report-bindings --ports --transport --tuned --tag-output
    --timestamp-output --gather-output --output-filename --wdir --role --timeout --deadline --grace --stop-signal --status-port --when-done --show-ranks --preflight --json --explain --verbose
    --version --help"
  local word=${COMP_WORDS[COMP_CWORD]} at=1 flag
  COMPREPLY=()
  if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} == render ]]; then
    _rotarun_render
    return
  fi
  # Walks to the current word, to find whether it is the value of a flag or a word of the program.
  while ((at < COMP_CWORD)); do
    flag=${COMP_WORDS[at]}
    [[ $flag == -?* ]] || break
    ((++at))
    [[ $flag != -- ]] || break
    [[ ${COMP_WORDS[at]} != "=" ]] || ((++at))  # Bash splits flag=value at the "=".
    [[ $with_value == *[[:space:]]"$flag"[[:space:]]* ]] || continue
    if ((at >= COMP_CWORD)); then
      [[ $word != "=" ]] || word=
      _rotarun_value "$flag" "$word"
      return
    fi
    ((++at))
  done
  if ((at == COMP_CWORD)) && [[ $word == -* && ${COMP_WORDS[at - 1]} != -- ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$word")
  else
    _rotarun_program "$at"
  fi
}

complete -F _rotarun rotarun
