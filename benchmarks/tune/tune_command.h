// `rota-bench tune`: finds the fastest plan of an all-reduce of each size, here.
#pragma once

namespace rota::bench {

// As a rank of the job that it joins. The exit code.
int run_tune_command(int argument_count, char** arguments);

}  // namespace rota::bench
