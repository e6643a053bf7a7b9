# ./dev bench [--docs | --short] [WHAT...]
# shellcheck shell=bash

command_bench() {
  local docs='' short='' what refused=()
  local all=(kernel latency launch small all-reduce collectives types oversubscribed loopback hosts
    overlap scale training codecs checkpoint summaries records mpi)
  case ${1:-} in
    --docs) docs=1 && shift ;;
    --short)
      short=1 && shift
      [[ $* == scale ]] || die "bench: --short is only for scale"
      ;;
  esac
  (($#)) || set -- "${all[@]}"
  for what in "$@"; do
    [[ " ${all[*]} " == *" $what "* ]] ||
      die "bench: there is no benchmark '$what'; the benchmarks are ${all[*]}"
  done
  setup build bench
  local least=()
  is_configured release || least=(-DROTA_BUILD_TESTS=OFF)
  configure release -DROTA_BUILD_BENCHMARKS=ON -DROTA_MPI_PEERS="$PWD/build/peers/mpi" \
    "${least[@]}"
  compile_what_is_measured
  for what in "$@"; do
    case $what in
      kernel) bench_kernel ;;
      latency) bench_latency ;;
      all-reduce | collectives | types | oversubscribed | loopback)
        bench_contest "$what" "$what" "$docs"
        ;;
      hosts) bench_hosts "$docs" ;;
      codecs) bench_codecs "$docs" ;;
      launch) bench_launch "$docs" ;;
      small) bench_small "$docs" ;;
      training) bench_training "$docs" ;;
      overlap) bench_overlap ;;
      scale) bench_scale "$docs" "$short" ;;
      checkpoint)
        bench_beside_pytorch "saving and restoring" checkpoint/page.sh checkpoint "$docs"
        ;;
      summaries)
        bench_beside_pytorch "summaries for TensorBoard" pace/summaries.sh summaries "$docs"
        ;;
      records)
        bench_beside_pytorch "training on records" pace/records.sh records "$docs"
        ;;
      mpi) bench_mpi "$docs" ;;
    esac
  done
  ((${#refused[@]} == 0)) || die "bench: no page was made for ${refused[*]}"
}

# compile_what_is_measured runs again before each page. The head of a page has the commit of that
# time, so the measured programs must be made from it.
compile_what_is_measured() { compile release rota_programs rota-bench mnist peers; }

# can_make_hosts SECTION succeeds if network namespaces can be made, which needs root.
can_make_hosts() {
  ((EUID == 0)) && return
  say "$1: left out, because only root can make network namespaces"
  return 1
}

bench_kernel() {
  say "the arithmetic, in one thread"
  build/release/bin/rota-bench kernel
}

bench_latency() {
  local bin=build/release/bin transport
  say "the smallest calls, between two threads"
  "$bin/rota-bench" latency
  for transport in shm tcp; do
    say "the smallest calls, between two ranks over $transport"
    "$bin/rotarun" -np 2 --transport $transport "$bin/rota-bench" latency
  done
}

# page_of PAGE DOCS COMMAND... makes a page with the command, and copies it into the docs if DOCS is
# not empty. If the command refuses to make its page, the other pages are still made.
page_of() {
  compile_what_is_measured
  "${@:3}" || { refused+=("$1") && return; }
  [[ -n $2 ]] || return 0
  cp "build/bench/$1.md" docs/benchmarks/
  [[ ! -f build/bench/$1.svg ]] || cp "build/bench/$1.svg" docs/benchmarks/
}

# bench_contest WHAT SECTION DOCS measures rota and its peers in turn.
bench_contest() {
  say "$2, compared with Open MPI, MPICH and Gloo if they are installed"
  page_of "$2" "$3" benchmarks/contest/run.sh build/release/bin build/peers build/bench \
    "./dev bench $1" "$2"
}

# bench_hosts [DOCS]
bench_hosts() {
  local section
  can_make_hosts hosts || return 0
  for section in hosts-1gbit hosts-100mbit pairs-1gbit pairs-100mbit; do
    bench_contest hosts $section "$1"
  done
}

# bench_codecs [DOCS]
bench_codecs() {
  bench_contest codecs codecs-shm "$1"
  can_make_hosts codecs || return 0
  bench_contest codecs codecs-1gbit "$1"
  bench_contest codecs codecs-100mbit "$1"
  say "training with each codec, at 100 Mbit/s"
  page_of codecs-training "$1" benchmarks/training/by_codec.sh build/release/bin \
    examples/mnist/data build/bench "./dev bench codecs"
}

# bench_launch [DOCS]
bench_launch() {
  say "starting two ranks, compared with Open MPI and MPICH if they are installed"
  page_of launch "$1" benchmarks/contest/launch.sh build/release/bin build/bench \
    "./dev bench launch"
}

# bench_small [DOCS]
bench_small() {
  say "64 buffers of 4 KiB, as a group, in flight and one by one"
  page_of small "$1" benchmarks/small/page.sh build/release/bin build/bench "./dev bench small"
}

# bench_mpi [DOCS]
bench_mpi() {
  say "rota over MPI, compared with MPI's own calls"
  page_of mpi "$1" benchmarks/mpi/page.sh build/release/bin build/bench "./dev bench mpi"
  say "starting MPI programs, compared with the launchers of Open MPI and MPICH"
  page_of mpi-start "$1" benchmarks/mpi/start.sh build/release/bin build/bench "./dev bench mpi"
}

# bench_training [DOCS]
bench_training() {
  say "training MNIST, compared with PyTorch and TensorFlow if they are installed"
  page_of training "$1" benchmarks/training/run.sh build/release/bin build/peers \
    examples/mnist/data build/bench "./dev bench training"
}

# bench_beside_pytorch TITLE SCRIPT SECTION DOCS
bench_beside_pytorch() {
  say "$1, compared with PyTorch if it is installed"
  page_of "$3" "$4" "benchmarks/$2" build/release/bin build/peers examples/mnist/data build/bench \
    "./dev bench $3"
}

bench_overlap() {
  local bin=build/release/bin
  say "time saved by sending gradients during the backward pass: over shared memory"
  "$bin/rotarun" -np 2 --transport shm "$bin/rota-bench" overlap
  can_make_hosts 'overlap between hosts' || return 0
  say "time saved by sending gradients during the backward pass: at 1 Gbit/s between two network \
namespaces"
  benchmarks/overlap/two_hosts.sh "$bin/rota-bench" overlap
}

# bench_scale DOCS SHORT: with SHORT, only the predictions are held against measurements.
bench_scale() {
  if [[ -n $2 ]]; then
    say "predicted times, held against measured ones: ten minutes at most"
    benchmarks/scale/validate.sh build/release/bin build/bench short ||
      die "bench: the validation of predictions has failed"
    return
  fi
  say "training steps on 1 to 16 ranks, compared with Open MPI and Gloo if they are installed"
  can_make_hosts 'scaling over hosts' || true
  page_of scaling "$1" benchmarks/scale/run.sh build/release/bin build/bench "./dev bench scale"
}
