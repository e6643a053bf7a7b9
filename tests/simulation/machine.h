// What the code under test takes for a machine: its loads and stores, its clock, its sockets. The
// sources of lib/ are compiled with the calls that a compiler makes for a race detector before each
// access, and linked so that calls of the system come here.
#pragma once
#include <utility>

#include "simulation/scheduler.h"
#include "simulation/shared_memory_model.h"
#include "simulation/streams.h"

namespace rota::simulation {

struct Machine {
  Scheduler& scheduler;
  SharedMemoryModel& memory;
  Streams& streams;
};

// While a simulated thread is in the code under test; else null, and all is as on a real machine.
inline Machine* machine = nullptr;

// Takes it for as long as the simulator itself is at work, which may be long: other threads run
// while this one waits here.
class Inside {
 public:
  Inside() noexcept : machine_(std::exchange(machine, nullptr)) {}
  ~Inside() { machine = machine_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  explicit operator bool() const noexcept { return machine_ != nullptr; }
  Machine* operator->() const noexcept { return machine_; }

 private:
  Machine* machine_;
};

}  // namespace rota::simulation
