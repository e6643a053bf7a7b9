// The MPI of a simulated world: the fake MPI of the tests, called by simulated threads. The seed
// decides when messages arrive and collectives end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "testing/fake_mpi.h"
#include "transport/mpi/world.h"

namespace rota::simulation {

// One exists at a time.
class SimulatedMpi {
 public:
  // The hook is called before each call of a rank.
  SimulatedMpi(std::size_t world_size, std::uint64_t seed, std::function<void()> hook);
  ~SimulatedMpi();

  std::shared_ptr<transport::mpi::World> world_of(std::size_t rank);

 private:
  testing::FakeMpi mpi_;
};

}  // namespace rota::simulation
