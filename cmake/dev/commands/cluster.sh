# ./dev cluster up [--family FAMILY] | test [CTEST-ARGUMENT...] | bench | down | build
# shellcheck shell=bash
source cmake/dev/judges.sh

# The programs of Kubernetes are kept outside of the tree: building them takes minutes, and they
# seldom change.
command_cluster() {
  local action=${1:-} provider=tests/cluster/provider
  (($# == 0)) || shift
  [[ $EUID == 0 || $action == build || ($action == test && -n ${KUBECONFIG:-}) ]] ||
    die "cluster $action: only root can make nodes from network namespaces"
  case $action in
    build) $provider/build.sh ;;
    up)
      setup cluster >&2
      $provider/build.sh && $provider/up.sh "$@"
      ;;
    down) $provider/down.sh ;;
    test)
      setup build cluster judges
      install_judges
      configure image -DROTA_CLUSTER_TESTS=ON
      compile image
      tests/cluster/images.sh build/image build/image/images
      say "testing build/image"
      tests/cluster/test.sh build/image "$@"
      ;;
    bench)
      setup build cluster
      configure image -DROTA_BUILD_BENCHMARKS=ON
      compile image
      benchmarks/cluster/run.sh build/image
      ;;
    *) die "cluster: the action must be up, test, bench, down or build" ;;
  esac
}
