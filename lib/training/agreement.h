// Finds out whether all ranks are about to train the same thing.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rota/communicator.h>
#include <rota/model.h>
#include <rota/optimizer.h>

namespace rota::training {

// What ranks must have in common, one thing a row: its name, and its value as text.
using Facts = std::vector<std::pair<std::string, std::string>>;

// A row for each parameter: ("2.dense.weights", "[512, 10]").
Facts facts_of(std::span<const ParameterInfo> parameters);

// The shortest that reads back as the same value.
std::string to_text(double value);

// "sgd, learning rate 0.05, momentum 0.9, weight decay 0"
std::string to_text(const OptimizerOptions& options);

struct RankFacts {
  std::size_t rank;
  const Facts& facts;
};

// The first thing in which `theirs` is not `ours`, in words; none when they agree.
std::optional<std::string> difference(const RankFacts& theirs, const RankFacts& ours);

// Collective. Throws Error kMismatch with the same text on every rank when the facts of one differ
// from rank 0's; it blames the first such rank.
void check_agreement(Communicator& communicator, const Facts& facts);

}  // namespace rota::training
