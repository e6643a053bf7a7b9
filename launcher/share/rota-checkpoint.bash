# Completes the command line of rota-checkpoint in bash: its commands, then folders and files.

_rota_checkpoint() {
  local word=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "list show verify diff export --help --version" -- "$word")
  elif [[ ${COMP_WORDS[1]} == export ]] && ((COMP_CWORD > 2)); then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  else
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -d -- "$word")
  fi
}

complete -F _rota_checkpoint rota-checkpoint
