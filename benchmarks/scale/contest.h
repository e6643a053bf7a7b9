// Compares training steps with steps that only compute, and with steps that only communicate. They
// alternate in one run, as those of `rota-bench overlap` do.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/group.h"
#include "scale/pacing.h"
#include "scale/sums.h"

namespace rota::bench {

// Weak: each rank has the whole batch. Strong: all ranks share one batch.
enum class Scaling : std::uint8_t { kWeak, kStrong };

struct ScaleOptions {
  std::string model = "lenet";
  Scaling scaling = Scaling::kWeak;
  std::size_t batch_size = 0;                 // Of a rank, or of all ranks together if strong.
  bool is_real = false;                       // The ranks compute, in place of sleeping.
  std::optional<double> images_per_second{};  // The pace of one rank; the workload's if unset.
  std::optional<double> megabits{};           // The rate of a host's cable, if there is one.
  std::size_t steps = 5;                      // Consecutive steps of each kind.
  std::size_t rounds = 11;
};

// Seconds for a step of the slowest rank, one sample for each round.
struct ScaleTimes {
  std::vector<double> step;
  std::vector<double> waiting;        // The part of such a step in which a rank waits for sums.
  std::vector<double> computing;      // All ranks compute at the same time, without sums.
  std::vector<double> communication;  // Only sums: all gradients are ready at once.
  std::vector<double> whole;          // One rank's steps on the batch that the ranks share.
};

struct ScaleResult {
  ScaleOptions options;
  std::string name;         // Of the library: "rota", "Open MPI".
  std::string transport{};  // Of rota: "shm+tcp". Empty if it has none.
  std::size_t rank = 0;     // Of this process.
  std::size_t ranks = 0;
  std::size_t hosts = 0;
  std::size_t gradient_bytes = 0;
  double least_step = 0;  // Seconds; no library can be faster. 0 if no bound is known.
  ScaleTimes times;
};

// The kinds of steps. `whole` may be empty: then the computing is shared exactly.
struct Steps {
  std::function<void(std::size_t)> together;
  std::function<void(std::size_t)> computing;
  std::function<void(std::size_t)> communicating;
  std::function<void(std::size_t)> whole;
  std::function<double()> waited_seconds;  // Of this rank in all steps until now.
};

// Collective.
ScaleTimes measure_steps(Group& group, const Steps& steps, const ScaleOptions& options);

// Returns the images of one rank in a step. Throws std::invalid_argument if ranks that share a
// batch cannot each have the same number of images.
std::size_t images_of_a_rank(const ScaleOptions& options, std::size_t ranks);

// Returns the pace of each rank. Throws as images_of_a_rank() does, and as model_work_named().
Pace pace_of_a_rank(const ScaleOptions& options, std::size_t ranks);

// Collective. Sums the numbers of the ranks, from 1 on, in all gradients. Leaves zeros, whose later
// sums are zeros too. Throws std::runtime_error if a sum is wrong.
void require_sums(const Group& group, Sums& sums, std::size_t count);

// Returns a result that only lacks its times. `counts` are the elements of the gradients.
ScaleResult result_without_times(const Group& group, std::size_t hosts,
                                 std::span<const std::size_t> counts, const ScaleOptions& options);

// Collective. Measures paced steps whose gradients `sums` adds. Checks first that it adds them, as
// require_sums() does, and throws what it throws.
ScaleResult run_paced_contest(Group& group, std::size_t hosts, Sums& sums,
                              const ScaleOptions& options);

}  // namespace rota::bench
