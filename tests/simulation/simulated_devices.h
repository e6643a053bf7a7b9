// The devices of a simulated world: the fake device of the tests, called by simulated threads. The
// scheduler works its streams off, and the seed decides when, and which call of a rank fails.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "testing/fake_device.h"

namespace rota::simulation {

// One exists at a time.
class SimulatedDevices {
 public:
  // The hook is called before each call of a rank. Returns the error code of the call, 0 for none.
  SimulatedDevices(std::uint64_t seed, std::function<int()> hook);
  ~SimulatedDevices();

  // Makes rota use the simulated table from now on. Without an object of this class, the table
  // knows no address. All worlds have the table, so a seed gives the same world whichever seeds ran
  // before.
  static void use_table();

  // Does a piece of the work of one stream, if there is any.
  void work() { fake_.work(); }

  testing::FakeDevice& fake() noexcept { return fake_; }

 private:
  testing::FakeDevice fake_;
};

}  // namespace rota::simulation
