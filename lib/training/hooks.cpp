// Decides which evaluation is the best so far, and refuses options of hooks that make no sense.
#include <rota/evaluators_word.h>
#include <rota/hooks.h>

#include <cmath>
#include <limits>

#include <rota/error.h>

#include "base/number_text.h"

namespace rota {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& value,
                         const std::string& expected) {
  throw Error(ErrorCode::kInvalidArgument, name + " " + value + ": expected " + expected);
}

double worst_of(const Watched& watched) noexcept {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return watched.rises ? -kInfinity : kInfinity;
}

}  // namespace

BestSoFar::BestSoFar(const Watched& watched, double min_delta, std::size_t sum_count)
    : watched_(watched), min_delta_(min_delta), best_(worst_of(watched)) {
  if (watched.sum >= sum_count) {
    refuse("watched sum", std::to_string(watched.sum), "less than " + std::to_string(sum_count));
  }
  if (!(min_delta >= 0 && std::isfinite(min_delta))) {
    refuse("min_delta", base::shortest_text(min_delta), "a finite number that is not negative");
  }
}

bool BestSoFar::take(std::span<const double> sums, std::size_t samples) noexcept {
  ++since_;
  const double number = sums[watched_.sum] / static_cast<double>(samples);
  const bool is_better = watched_.rises ? number > best_ + min_delta_ : number < best_ - min_delta_;
  if (!is_better || !std::isfinite(number)) return false;
  best_ = number;
  since_ = 0;
  return true;
}

void BestSoFar::forget() noexcept {
  best_ = worst_of(watched_);
  since_ = 0;
}

void BestSoFar::visit_state(StateVisitor& visitor, const std::string& name, StateOwner owner) {
  const std::size_t one = 1;
  visitor.visit_counter({.name = name + "/evaluations since the best", .owner = owner}, since_);
  visitor.visit_tensor({.name = name + "/best", .owner = owner}, std::span(&one, 1),
                       std::span(&best_, 1));
}

EvaluatorsWord::EvaluatorsWord(const std::filesystem::path& path, std::size_t sum_count) {
  if (!path.empty()) followed_.emplace(path, sum_count);
}

void EvaluatorsWord::begin(const BeginReport& report) {
  if (report.fresh) taken_ = 0;
  if (!followed_) return;
  if (report.run.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "a hook cannot follow an evaluator without checkpoints: set "
                "TrainerOptions::session.checkpoints.folder");
  }
  followed_->begin(report.run, taken_);
}

std::optional<SavedEvaluation> EvaluatorsWord::next(std::uint64_t steps) {
  while (followed_) {
    auto evaluation = followed_->next();
    if (!evaluation) break;
    ++taken_;
    if (evaluation->step <= steps) return evaluation;
  }
  return std::nullopt;
}

void EvaluatorsWord::visit_state(StateVisitor& visitor, const std::string& name) {
  if (!followed_) return;
  visitor.visit_counter({.name = name + "/evaluations taken", .owner = owner()}, taken_);
}

std::uint64_t checked_patience(std::uint64_t patience) {
  if (patience == 0) refuse("patience", "0", "1 or more");
  return patience;
}

double checked_factor(double factor) {
  if (!(factor > 0 && factor < 1)) {
    refuse("factor", base::shortest_text(factor), "more than 0 and less than 1");
  }
  return factor;
}

}  // namespace rota
