// `rota-bench all-reduce`, `rota-bench broadcast`, …
#pragma once

namespace rota::bench {

// Takes the program's arguments; arguments[1] names the collectives. Returns the exit code, which
// is 2 for arguments that make no sense; throws std::exception.
int run_collectives_command(int argument_count, char** arguments);

}  // namespace rota::bench
