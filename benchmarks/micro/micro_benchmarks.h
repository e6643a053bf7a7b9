// `rota-bench kernel` and `rota-bench latency`: what is timed by Google Benchmark, and takes its
// options, such as --benchmark_filter=float32 and --benchmark_format=json.
#pragma once

namespace rota::bench {

// Each kernel's throughput beside that of memcpy, for buffers that fit into a second-level cache
// and for buffers that fit into none; and the models' matrix products. In one thread. The exit
// code.
int run_kernel_benchmarks(int argument_count, char** arguments);

// The least calls: an all-reduce of four bytes, a barrier, a message there and back. Between ranks
// where rotarun has started several, which all call it, and between two threads otherwise.
int run_latency_benchmarks(int argument_count, char** arguments);

}  // namespace rota::bench
