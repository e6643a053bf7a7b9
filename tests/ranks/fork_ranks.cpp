// Each rank forks, again and again, while a sum is under way. The children use what they have of
// the rank, and end by exit() or by return, so that copies of its objects are destroyed. The ranks
// go on, as if there had been no children.
#include <rota/agreed_steps.h>
#include <rota/communicator.h>
#include <rota/gradient_buckets.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

namespace {

constexpr int kRounds = 10;
constexpr unsigned kMostSeconds = 20;  // Only a hang takes longer.
constexpr std::size_t kCount = 10'000;

bool is_child = false;

// What a rank has. Each member is destroyed in its children.
struct Owned {
  rota::Communicator ranks;
  rota::Communicator group = ranks.split(0);
  rota::AgreedSteps steps{ranks};
  rota::GradientBuckets<float> buckets{ranks, std::vector<std::size_t>{kCount}};
  rota::Block block = ranks.allocate(kCount * sizeof(float));
  std::vector<float> values = std::vector<float>(kCount);
  rota::Request sum;

  std::span<float> shared() { return {reinterpret_cast<float*>(block.bytes().data()), kCount}; }
};

template <class Call>
bool is_refused(Call call) {
  try {
    call();
  } catch (const rota::Error& error) {
    return error.code() == rota::ErrorCode::kInvalidArgument;
  }
  return false;
}

// Runs in a child. The rank that it is forked from takes no part.
bool all_is_refused(Owned& owned) {
  return is_refused([&] { owned.ranks.barrier(); }) &&
         is_refused([&] { owned.group.all_reduce(owned.values, rota::ReduceOp::kSum); }) &&
         is_refused([&] { owned.buckets.begin_step(1); }) &&
         is_refused([&] { owned.steps.begin(); }) && is_refused([&] { owned.sum.wait(); }) &&
         is_refused([] { rota::Communicator(); });
}

bool all_are(std::span<const float> values, float expected) {
  return std::ranges::count(values, expected) == std::ssize(values);
}

// Takes a step with the other ranks.
bool step_is_right(Owned& owned) {
  const auto ranks = static_cast<float>(owned.ranks.world_size());
  owned.sum.wait();
  if (!all_are(owned.values, ranks) || !all_are(owned.shared(), 1) || !owned.steps.begin()) {
    return false;
  }
  std::ranges::fill(owned.buckets.gradient(0), 1.0F);
  owned.buckets.begin_step(1);
  owned.buckets.ready(0);
  owned.buckets.wait();
  return all_are(owned.buckets.gradient(0), ranks);
}

bool ends_well(pid_t child) {
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

int fail(const Owned& owned, int round, const char* what) {
  std::fprintf(stderr, "rank %zu, round %d: %s\n", owned.ranks.rank(), round, what);
  return EXIT_FAILURE;
}

}  // namespace

// A child leaves what belongs to the rank, which LeakSanitizer would report.
extern "C" int __lsan_is_turned_off() { return is_child ? 1 : 0; }

int main() {
  Owned owned;
  static std::optional<rota::Communicator> of_exit;  // exit() destroys it.
  of_exit = owned.ranks.split(0);
  std::ranges::fill(owned.shared(), 1.0F);
  for (int round = 0; round < kRounds; ++round) {
    std::ranges::fill(owned.values, 1.0F);
    owned.sum = owned.group.all_reduce_async(owned.values, rota::ReduceOp::kSum);
    const pid_t child = ::fork();
    if (child == 0) {
      is_child = true;
      ::alarm(kMostSeconds);
      const int code = all_is_refused(owned) ? EXIT_SUCCESS : EXIT_FAILURE;
      if (round % 2 == 0) return code;
      std::exit(code);
    }
    if (!ends_well(child)) return fail(owned, round, "its child did not end with 0");
    if (!step_is_right(owned)) return fail(owned, round, "the rank is not as it was");
  }
  of_exit.reset();
  return EXIT_SUCCESS;
}
