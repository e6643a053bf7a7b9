// The machine on which the code under test runs: its loads and stores, its clock, its sockets. The
// sources of lib/ are compiled with the calls that a compiler makes for a race detector before each
// access. The linker directs system calls here.
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

// Set while a simulated thread runs the code under test. Otherwise null, and everything works as on
// a real machine.
inline Machine* machine = nullptr;

// Sets `machine` to null while the simulator itself works. That may take long: the simulator may
// run other threads before this one goes on.
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
