// `rota-bench all-reduce`.
#pragma once

namespace rota::bench {

// Takes the arguments behind the subcommand's name, which stands at arguments[0]. Returns the exit
// code; throws std::exception.
int run_all_reduce_benchmark(int argument_count, char** arguments);

}  // namespace rota::bench
