// A training run with a state of a few numbers. Each number tells the step and the rank that it
// comes from.
#pragma once
#include <rota/training_state.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace rota::testing {

// What a training run with two tensors, a hook's counter and a codec's feedback has.
struct ToyRun {
  std::vector<float> weights = std::vector<float>(1000);
  std::vector<double> moments = std::vector<double>(17);
  std::vector<float> lost = std::vector<float>(5);  // A rank's own.
  std::uint64_t counter = 0;
  std::string seed = "1";
  std::string rate = "0.1";

  void fill(double value, std::size_t rank) {
    std::iota(weights.begin(), weights.end(), static_cast<float>(value));
    std::ranges::fill(moments, value / 3);
    std::ranges::fill(lost, static_cast<float>(value + static_cast<double>(rank)));
    counter = static_cast<std::uint64_t>(value);
  }
  void visit(StateVisitor& visitor) {
    const std::size_t rows[] = {weights.size() / 10, 10};
    const std::size_t moment_count = moments.size();
    const std::size_t lost_count = lost.size();
    visitor.visit_counter({.name = "hook/counter"}, counter);
    visitor.visit_fact({.name = "seed"}, seed);
    visitor.visit_fact({.name = "learning rate", .fit = StateFit::kLoose}, rate);
    visitor.visit_tensor({.name = "optimizer/moments", .writer = StateWriter::kUpdate},
                         std::span(&moment_count, 1), moments);
    visitor.visit_tensor({.name = "codec/bucket 0/lost",
                          .owner = StateOwner::kRank,
                          .fit = StateFit::kSummed,
                          .writer = StateWriter::kSend},
                         std::span(&lost_count, 1), lost);
    visitor.visit_tensor({.name = "model/weights", .writer = StateWriter::kUpdate}, rows, weights);
  }
  StateVisit visitor() {
    return [this](StateVisitor& inner) { visit(inner); };
  }
  friend bool operator==(const ToyRun&, const ToyRun&) = default;
};

}  // namespace rota::testing
