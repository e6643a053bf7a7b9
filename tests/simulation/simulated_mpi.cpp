// Lets other threads run at each call of the fake MPI.
#include "simulation/simulated_mpi.h"

#include <utility>

#include "simulation/machine.h"

namespace rota::simulation {
namespace {

using mpi::Calls;
using mpi::Handle;

std::function<void()> before_call;

// `call` is one of the functions of the table, as ranks call it.
template <auto call>
struct Simulated;

template <class... Arguments, int (*Calls::*call)(Arguments...) noexcept>
struct Simulated<call> {
  static int run(Arguments... arguments) noexcept {
    const Inside here;
    if (here) {
      here->memory.settle();
      here->scheduler.may_switch();
      before_call();
    }
    return (testing::FakeMpi::calls().*call)(arguments...);
  }
};

Calls make_calls() {
  Calls calls = testing::FakeMpi::calls();
  // The world is made before its threads exist, so nobody could come to a collective.
  calls.duplicate = [](Handle comm, Handle& duplicate, Handle& request) noexcept {
    duplicate = comm;
    request = 0;
    return 0;
  };
  calls.free = [](Handle) noexcept { return 0; };
  calls.send = Simulated<&Calls::send>::run;
  calls.receive = Simulated<&Calls::receive>::run;
  calls.test = Simulated<&Calls::test>::run;
  calls.cancel = Simulated<&Calls::cancel>::run;
  calls.barrier = Simulated<&Calls::barrier>::run;
  calls.broadcast = Simulated<&Calls::broadcast>::run;
  calls.all_reduce = Simulated<&Calls::all_reduce>::run;
  calls.reduce = Simulated<&Calls::reduce>::run;
  calls.all_gather = Simulated<&Calls::all_gather>::run;
  return calls;
}

const Calls simulated_calls = make_calls();

}  // namespace

SimulatedMpi::SimulatedMpi(std::size_t world_size, std::uint64_t seed, std::function<void()> hook)
    : mpi_(world_size, seed) {
  before_call = std::move(hook);
}

SimulatedMpi::~SimulatedMpi() { before_call = nullptr; }

std::shared_ptr<transport::mpi::World> SimulatedMpi::world_of(std::size_t rank) {
  return std::make_shared<transport::mpi::World>(simulated_calls, mpi_.comm(rank),
                                                 base::TimePoint::max());
}

}  // namespace rota::simulation
