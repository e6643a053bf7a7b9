// The subcommands of rota-bench, one function each. arguments[0] is the name of the subcommand.
// run_collectives_command() is different: it takes the arguments of the whole program. All
// functions return the exit code, which is 2 for invalid arguments. All may throw std::exception.
#pragma once

namespace rota::bench {

// arguments[1] names the collectives. This command and the next four run as a rank of the job.
int run_collectives_command(int argument_count, char** arguments);
int run_small_command(int argument_count, char** arguments);
int run_tune_command(int argument_count, char** arguments);
int run_overlap_command(int argument_count, char** arguments);
int run_scale_command(int argument_count, char** arguments);

// Read rows from stdin. The second one throws if there is no row. The third one returns 1 if
// predictions are not good enough.
int run_contest_command(int argument_count, char** arguments);
int run_scale_page_command(int argument_count, char** arguments);
int run_validate_command(int argument_count, char** arguments);

// Need no job.
int run_predict_command(int argument_count, char** arguments);
int run_answers_command(int argument_count, char** arguments);

// Throws if a file cannot be written.
int run_plan_command(int argument_count, char** arguments);

// Compares each kernel's throughput with that of memcpy, for buffers that fit into a second-level
// cache and for buffers that fit into no cache. Also measures the matrix products of the models.
// Uses one thread.
int run_kernel_benchmarks(int argument_count, char** arguments);

// Measures the saving and restoring of checkpoints in a folder.
int run_checkpoint_command(int argument_count, char** arguments);

// Compares ways to train. Runs as a rank of the job.
int run_pace_command(int argument_count, char** arguments);

// Measures the smallest calls: an all-reduce of four bytes, a barrier, and a message to a peer and
// back. Under rotarun the calls are between ranks, and every rank must call this function. Without
// rotarun the calls are between two threads.
int run_latency_benchmarks(int argument_count, char** arguments);

}  // namespace rota::bench
