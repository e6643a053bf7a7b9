// Remembers earlier evaluations for a hook, and finds the best one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <rota/export.h>
#include <rota/training_state.h>

namespace rota {

// The number that a hook watches in each evaluation: one of the score's sums, divided by the number
// of samples.
struct Watched {
  std::size_t sum = 0;  // Its index in the sums.
  bool rises = false;   // Whether larger numbers are better.

  static constexpr Watched loss() noexcept { return {}; }
  static constexpr Watched accuracy() noexcept { return {.sum = 1, .rises = true}; }  // Of a Score.
};

// The best number so far, and the evaluations since.
class ROTA_EXPORT BestSoFar {
 public:
  // A number is better only if it differs by more than `min_delta`. Throws Error kInvalidArgument
  // if `min_delta` is negative, or if `watched` is not one of `sum_count` sums.
  BestSoFar(const Watched& watched, double min_delta, std::size_t sum_count);

  // Takes the next evaluation. Returns true if it is the best so far. A number that is not finite
  // is never better.
  bool take(std::span<const double> sums, std::size_t samples) noexcept;

  std::uint64_t evaluations_since() const noexcept { return since_; }
  void count_anew() noexcept { since_ = 0; }
  void forget() noexcept;
  void visit_state(StateVisitor& visitor, const std::string& name,
                   StateOwner owner = StateOwner::kWorld);

 private:
  Watched watched_;
  double min_delta_;
  double best_;
  std::uint64_t since_ = 0;
};

}  // namespace rota
