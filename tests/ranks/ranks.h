// Gives all tests of a program the communicator of the job that started the program.
#pragma once
#include <rota/communicator.h>

namespace rota {

Communicator& the_communicator();

// Runs all tests over `communicator`, if its world has `world_size` ranks. Returns the exit code of
// the program.
int run_tests_over(Communicator& communicator, std::size_t world_size);

}  // namespace rota
