# ./dev bench [--docs] [WHAT...] | --mark
# shellcheck shell=bash

command_bench() {
  local docs='' what refused=()
  if [[ ${1:-} == --mark ]]; then exec benchmarks/mark.sh "${@:2}"; fi
  if [[ ${1:-} == --docs ]]; then docs=1 && shift; fi
  setup build bench
  local least=()
  is_configured release || least=(-DROTA_BUILD_TESTS=OFF)
  configure release -DROTA_BUILD_BENCHMARKS=ON "${least[@]}"
  compile_what_is_measured
  local all=(kernel latency launch small all-reduce collectives types oversubscribed loopback hosts
    overlap training codecs)
  (($#)) || set -- "${all[@]}"
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
      *) die "bench: there are ${all[*]}, not '$what'" ;;
    esac
  done
  ((${#refused[@]} == 0)) || die "bench: no page for ${refused[*]}"
}

# compile_what_is_measured, once more before each page: its head has the digest of the sources of
# that time.
compile_what_is_measured() { compile release rota_programs rota-bench mnist peers; }

# can_make_hosts SECTION: network namespaces take root.
can_make_hosts() {
  ((EUID == 0)) && return
  say "$1: takes root, which makes network namespaces; left out"
  return 1
}

bench_kernel() {
  say "the arithmetic, in one thread"
  build/release/bin/rota-bench kernel
}

bench_latency() {
  local bin=build/release/bin transport
  say "the least calls, between two threads"
  "$bin/rota-bench" latency
  for transport in shm tcp; do
    say "between two ranks over $transport"
    "$bin/rotarun" -np 2 --transport $transport "$bin/rota-bench" latency
  done
}

# page_of PAGE DOCS COMMAND...: others go on where a page is refused.
page_of() {
  compile_what_is_measured
  "${@:3}" || { refused+=("$1") && return; }
  [[ -n $2 ]] || return 0
  cp "build/bench/$1.md" docs/benchmarks/
  [[ ! -f build/bench/$1.svg ]] || cp "build/bench/$1.svg" docs/benchmarks/
}

# bench_contest WHAT SECTION DOCS: rota and its peers in turn.
bench_contest() {
  say "$2, beside what is installed of Open MPI, MPICH and Gloo"
  page_of "$2" "$3" benchmarks/contest/run.sh build/release/bin build/bench "./dev bench $1" "$2"
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
  say "training by codec, at 100 Mbit/s"
  page_of codecs-training "$1" benchmarks/training/by_codec.sh build/release/bin \
    examples/mnist/data build/bench "./dev bench codecs"
}

# bench_launch [DOCS]
bench_launch() {
  say "starting two ranks, beside what is installed of Open MPI and MPICH"
  page_of launch "$1" benchmarks/contest/launch.sh build/release/bin build/bench \
    "./dev bench launch"
}

# bench_small [DOCS]
bench_small() {
  say "64 buffers of 4 KiB, as a group, in flight and one by one"
  page_of small "$1" benchmarks/small/page.sh build/release/bin build/bench "./dev bench small"
}

# bench_training [DOCS]
bench_training() {
  say "training MNIST, beside what is installed of PyTorch and TensorFlow"
  page_of training "$1" benchmarks/training/run.sh build/release/bin build/peers \
    examples/mnist/data build/bench "./dev bench training"
}

bench_overlap() {
  local bin=build/release/bin
  say "what it saves to send gradients during the backward pass: over shared memory"
  "$bin/rotarun" -np 2 --transport shm "$bin/rota-bench" overlap
  can_make_hosts 'overlap between hosts' || return 0
  say "the same between two network namespaces, at 1 Gbit/s"
  benchmarks/overlap/two_hosts.sh "$bin/rota-bench" overlap
}
