// This program is a rank that waits for ever. Its deadline is the largest possible time, which must
// not overflow when a clock's time is added.
#include <rota/agreed_steps.h>
#include <rota/communicator.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

void be_late(const rota::Communicator& communicator) {
  const auto rank = static_cast<int>(communicator.rank());
  std::this_thread::sleep_for(std::chrono::milliseconds(50 * rank));
}

bool sums_are_right(rota::Communicator& communicator) {
  be_late(communicator);
  std::vector<float> values(1000, 1.0F);
  communicator.all_reduce(values, rota::ReduceOp::kSum);
  const auto expected = static_cast<float>(communicator.world_size());
  return std::ranges::count(values, expected) == std::ssize(values);
}

bool steps_are_taken(rota::Communicator& communicator) {
  be_late(communicator);
  rota::AgreedSteps steps(communicator);
  for (int i = 0; i < 3; ++i) {
    if (!steps.begin() || !sums_are_right(communicator)) return false;
  }
  return true;
}

}  // namespace

int main() {
  auto options = rota::CommunicatorOptions::from_environment();
  options.join_timeout = std::chrono::nanoseconds::max();
  options.deadline = std::chrono::nanoseconds::max();
  rota::Communicator world(options);
  // A training run begins, and then another one. The second run needs an answer from the launcher.
  bool is_right = steps_are_taken(world) && steps_are_taken(world);
  rota::Communicator group = world.split(0);
  is_right = is_right && sums_are_right(group) && steps_are_taken(group);
  if (!is_right) std::fprintf(stderr, "rank %zu: not what was expected\n", world.rank());
  return is_right ? 0 : 1;
}
