// `rota-bench contest`.
#pragma once

namespace rota::bench {

// Reads rows from stdin. Takes the arguments behind the subcommand's name, which stands at
// arguments[0]. Returns the exit code, which is 2 for arguments that make no sense; throws
// std::exception.
int run_contest_command(int argument_count, char** arguments);

}  // namespace rota::bench
