// Reads the evaluations of an evaluator for the hook that follows it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <rota/evaluations.h>
#include <rota/export.h>
#include <rota/training_hook.h>
#include <rota/training_state.h>

namespace rota {

// Without a path, the hook follows no evaluator, and takes the evaluations of its Trainer.
class ROTA_EXPORT EvaluatorsWord {
 public:
  EvaluatorsWord(const std::filesystem::path& path, std::size_t sum_count);

  bool is_followed() const noexcept { return followed_.has_value(); }

  // Ranks read the file at different times, so what they have read differs.
  StateOwner owner() const noexcept {
    return is_followed() ? StateOwner::kRank : StateOwner::kWorld;
  }

  // Throws Error kInvalidArgument if the run saves no checkpoints.
  void begin(const BeginReport& report);

  // The next evaluation of this run; empty if there is none at present. `steps`: the steps done
  // since the first start. Passes over evaluations of later checkpoints: the run has not resumed
  // from them, so they are set aside.
  std::optional<SavedEvaluation> next(std::uint64_t steps);

  void visit_state(StateVisitor& visitor, const std::string& name);

 private:
  std::optional<FollowedEvaluations> followed_;
  std::uint64_t taken_ = 0;  // Since the first start of the run.
};

}  // namespace rota
