// Checks that all ranks are about to train the same thing.
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

// The facts that must be equal on all ranks. Each row is one fact: its name, and its value as text.
using Facts = std::vector<std::pair<std::string, std::string>>;

// Returns a row for each parameter, such as ("2.dense.weights", "[512, 10]").
Facts facts_of(std::span<const ParameterInfo> parameters);

// Returns a text such as "sgd, learning rate 0.05, momentum 0.9, weight decay 0".
std::string to_text(const OptimizerOptions& options);

struct RankFacts {
  std::size_t rank;
  const Facts& facts;
};

// Returns the first difference between `theirs` and `ours`, in words, or nothing if they agree.
std::optional<std::string> difference(const RankFacts& theirs, const RankFacts& ours);

// Collective: every rank must call it. Throws Error kMismatch, with the same text on every rank, if
// the facts of a rank differ from rank 0's. The error blames the first rank that differs.
void check_agreement(Communicator& communicator, const Facts& facts);

}  // namespace rota::training
