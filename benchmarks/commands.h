// What rota-bench does, a subcommand each. All take the arguments behind the subcommand's name,
// which stands at arguments[0], but for run_collectives_command(), whose arguments are the
// program's. They return the exit code, which is 2 for arguments that make no sense, and throw
// std::exception.
#pragma once

namespace rota::bench {

// arguments[1] names the collectives. As a rank of the job that it joins, as are the next three.
int run_collectives_command(int argument_count, char** arguments);
int run_small_command(int argument_count, char** arguments);
int run_tune_command(int argument_count, char** arguments);
int run_overlap_command(int argument_count, char** arguments);

// Reads rows from stdin.
int run_contest_command(int argument_count, char** arguments);

// Throws where a file cannot be written.
int run_plan_command(int argument_count, char** arguments);

// Each kernel's throughput beside that of memcpy, for buffers that fit into a second-level cache
// and for buffers that fit into none; and the models' matrix products. In one thread.
int run_kernel_benchmarks(int argument_count, char** arguments);

// The least calls: an all-reduce of four bytes, a barrier, a message there and back. Between ranks
// where rotarun has started several, which all call it, and between two threads otherwise.
int run_latency_benchmarks(int argument_count, char** arguments);

}  // namespace rota::bench
