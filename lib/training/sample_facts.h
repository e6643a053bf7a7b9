// The facts about a data set as ranks compare them, and as a state and a checkpoint have them.
#pragma once
#include <string>

#include <rota/training_loop.h>

namespace rota::training {

// The name of the fact about the training set.
inline constexpr const char* kTrainingSetFact = "training set of";

inline std::string to_text(const SampleFacts& data) {
  return std::to_string(data.count) + " samples" + (data.digest.empty() ? "" : ", " + data.digest);
}

}  // namespace rota::training
