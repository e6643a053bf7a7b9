#!/usr/bin/env bash
# test.sh BUILD [--family FAMILY] [CTEST-ARGUMENT...]: runs the tests in the cluster of KUBECONFIG,
# which must have the tests' images. Without KUBECONFIG, uses a cluster on this machine, and takes
# it down again unless it was up before. Without arguments, runs all tests there, and the tests of a
# job once more for each other family of addresses.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1
shift
slots=$(sed -n 's/^ROTA_TEST_SLOTS:[A-Z]*=//p' "$build/CMakeCache.txt")
ctest=(ctest --test-dir "$build" --output-on-failure --no-tests=error -j $(($(nproc) * slots)))

if [[ -n ${KUBECONFIG:-} ]]; then
  command -v kubectl >/dev/null || {
    echo "test: there is no kubectl in PATH" >&2
    exit 2
  }
  (($#)) || set -- -L cluster
  exec "${ctest[@]}" "$@"
fi

# in_cluster [--family FAMILY] -- CTEST-ARGUMENT...
in_cluster() {
  local family=()
  if [[ $1 == --family ]]; then
    family=("$1" "$2")
    shift 2
  fi
  "$here/provider/run.sh" "${family[@]}" "$build"/images/*.tar -- "${ctest[@]}" "${@:2}"
}

status=0
if [[ ${1:-} == --family ]]; then
  in_cluster "$1" "${2:-}" -- "${@:3}"
elif (($#)); then
  in_cluster -- "$@"
else
  in_cluster -- -L cluster || status=$?
  for family in ipv6 dual; do
    echo "==> a job in a cluster of family $family"
    in_cluster --family $family -- -R '^cluster_job_test' || status=$?
  done
fi
exit $status
