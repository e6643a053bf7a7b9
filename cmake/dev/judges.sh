# Installs the Python libraries that judge the files that rota writes and reads. They are the
# reference of each format: tests/judges/ compares rota with them.
# shellcheck shell=bash
source cmake/dev/record.sh

# The folder of the Python environment. Checkouts with the same list of libraries share it.
judges_folder() { echo "$kept/judges/$(sha256sum <tests/judges/requirements.txt | cut -c 1-16)"; }

# has_judges succeeds if the libraries are installed. It also succeeds if the tree has no list of
# libraries, as in the tests of ./dev.
has_judges() { [[ ! -e tests/judges/requirements.txt || -e $(judges_folder)/complete ]]; }

# Without the libraries, the tests of the judges are skipped. CI does not allow that.
install_judges() {
  ! has_judges || return 0
  local folder log
  folder=$(judges_folder)
  log=$folder.log
  mkdir -p "${folder%/*}"
  say "installing Python libraries in $folder"
  # Two installations at the same time would write the same files.
  if flock "$folder.lock" bash -c 'set -e
    [[ ! -e $1/complete ]] || exit 0
    python3 -m venv --clear "$1"
    "$1/bin/python" -m pip install --quiet --requirement tests/judges/requirements.txt
    touch "$1/complete"' _ "$folder" >"$log" 2>&1; then
    rm -f "$log"
    return
  fi
  [[ ${CI:-} != true ]] || die "the Python libraries cannot be installed; the output is in $log"
  say "continuing without the judges of file formats (see $log)"
}
