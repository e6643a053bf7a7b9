// Lets other threads run at each call of the fake device.
#include "simulation/simulated_devices.h"

#include <utility>

#include "simulation/machine.h"

namespace rota::simulation {
namespace {

using cuda::Calls;
using testing::FakeDevice;

std::function<int()> before_device_call;

// `call` is one of the functions of the table, as ranks call it.
template <auto call>
struct SimulatedCall;

template <class... Arguments, int (*Calls::*call)(Arguments...) noexcept>
struct SimulatedCall<call> {
  static int run(Arguments... arguments) noexcept {
    const Inside here;
    if (here) {
      here->memory.settle();
      here->scheduler.may_switch();
      if (const int error = before_device_call(); error != 0) return error;
    }
    return (FakeDevice::calls().*call)(arguments...);
  }
};

// A call that gives back something, or that depends on addresses, which differ from run to run. No
// other thread may run, and it does not fail.
template <auto call>
struct QuietCall;

template <class... Arguments, int (*Calls::*call)(Arguments...) noexcept>
struct QuietCall<call> {
  static int run(Arguments... arguments) noexcept {
    const Inside here;
    return (FakeDevice::calls().*call)(arguments...);
  }
};

Calls make_device_calls() {
  Calls calls = FakeDevice::calls();
  calls.count_devices = QuietCall<&Calls::count_devices>::run;
  calls.allocate = SimulatedCall<&Calls::allocate>::run;
  calls.free = QuietCall<&Calls::free>::run;
  calls.allocate_pinned = SimulatedCall<&Calls::allocate_pinned>::run;
  calls.free_pinned = QuietCall<&Calls::free_pinned>::run;
  calls.find_memory = QuietCall<&Calls::find_memory>::run;
  calls.make_stream = SimulatedCall<&Calls::make_stream>::run;
  calls.destroy_stream = QuietCall<&Calls::destroy_stream>::run;
  calls.make_event = SimulatedCall<&Calls::make_event>::run;
  calls.destroy_event = QuietCall<&Calls::destroy_event>::run;
  calls.record = SimulatedCall<&Calls::record>::run;
  calls.test = SimulatedCall<&Calls::test>::run;
  calls.wait_for = SimulatedCall<&Calls::wait_for>::run;
  calls.wait_for_word = SimulatedCall<&Calls::wait_for_word>::run;
  calls.copy = SimulatedCall<&Calls::copy>::run;
  calls.clear = SimulatedCall<&Calls::clear>::run;
  calls.combine = SimulatedCall<&Calls::combine>::run;
  calls.scale = SimulatedCall<&Calls::scale>::run;
  calls.encode = SimulatedCall<&Calls::encode>::run;
  calls.decode = SimulatedCall<&Calls::decode>::run;
  calls.decode_add = SimulatedCall<&Calls::decode_add>::run;
  calls.lose = SimulatedCall<&Calls::lose>::run;
  return calls;
}

const Calls& simulated_table() {
  static const Calls calls = make_device_calls();
  return calls;
}

}  // namespace

SimulatedDevices::SimulatedDevices(std::uint64_t seed, std::function<int()> hook)
    : fake_({.device_count = 1, .seed = seed, .has_thread = false}) {
  before_device_call = std::move(hook);
  use_table();
}

SimulatedDevices::~SimulatedDevices() { before_device_call = nullptr; }

void SimulatedDevices::use_table() { cuda::use(simulated_table()); }

}  // namespace rota::simulation
