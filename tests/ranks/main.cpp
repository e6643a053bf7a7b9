// Runs the tests of a program over the job that rotarun started. main [PLAN [WORLD_SIZE]]:
// all-reduces use the plan PLAN, and the world must have WORLD_SIZE ranks.
#include <gtest/gtest.h>

#include <cstdlib>

#include "ranks/ranks.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  rota::CommunicatorOptions options = rota::CommunicatorOptions::from_environment();
  if (argc > 1) options.plan = argv[1];
  rota::Communicator communicator(options);
  const std::size_t world_size =
      argc > 2 ? std::strtoul(argv[2], nullptr, 10) : communicator.world_size();
  return rota::run_tests_over(communicator, world_size);
}
