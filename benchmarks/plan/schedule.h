// When the messages of a collective travel, on a wire where each takes one step of a clock.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "collectives/plan.h"

namespace rota::bench {

// A message.
struct Arrow {
  std::size_t step = 0;
  std::size_t from = 0;
  std::size_t to = 0;
  Slice elements{};  // Of the collective, wherever they lie at either end.
  collectives::Verb verb = collectives::Verb::kReceive;  // What the receiver does: or kReduce.
};

// Runs the plans of all ranks, index = rank. In each step a rank sends to each peer the next
// message that was ready when the step began. What a rank does in its own memory costs nothing:
// only what has to wait for another message comes a step later. In the order of the steps.
// `input_offsets`: where a rank's input begins among the elements of the collective, index = rank;
// empty: every input is all of them.
// Throws std::logic_error where the plans wait for each other for ever.
std::vector<Arrow> schedule(std::span<const collectives::Plan> plans,
                            std::span<const std::size_t> input_offsets = {});

}  // namespace rota::bench
