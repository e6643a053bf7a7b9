#!/usr/bin/env bash
# test.sh BUILD [--family FAMILY] [CTEST-ARGUMENT...] runs the tests in the cluster that KUBECONFIG
# names, which must have their images; or in one of this machine, which goes again unless it was up
# before.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/provider/place.sh"
build=$1
shift
family=()
if [[ ${1:-} == --family ]]; then
  family=("$1" "${2:-}")
  shift 2
fi

if [[ -z ${KUBECONFIG:-} ]]; then
  "$here/provider/build.sh"
  # Also after a failure and a Ctrl-C: it is a Kubernetes that would be left behind.
  [[ -e $state/up ]] || trap '"$here/provider/down.sh"' EXIT
  "$here/provider/up.sh" "${family[@]}"
  "$here/provider/load.sh" "$build"/images/*.tar
  export KUBECONFIG=$state/pki/admin.conf ROTA_TEST_HARM=$here/provider/harm.sh
fi
command -v kubectl >/dev/null || die "test: there is no kubectl in PATH"
# Alone, one at a time: the cores of a small cluster are few.
(($#)) || set -- -L cluster
ctest --test-dir "$build" --output-on-failure --no-tests=error "$@"
