// Computes when the messages of a collective travel, if each message takes one step of a clock.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "collectives/plan.h"

namespace rota::bench {

// A message from one rank to another.
struct Arrow {
  std::size_t step = 0;
  std::size_t from = 0;
  std::size_t to = 0;
  Slice elements{};  // Elements of the collective, at any place.
  collectives::Verb verb = collectives::Verb::kReceive;  // The receiver's: kReceive or kReduce.
};

// Runs the plans of all ranks (index = rank) and returns the messages in the order of the steps. In
// each step a rank sends to each peer the next message that was ready when the step began. Work in
// the rank's own memory takes no time. Only a message that waits for another message travels in a
// later step. `input_offsets` has the first element of each rank's input (index = rank); empty:
// every input has all elements. Throws std::logic_error if the plans wait for each other forever.
std::vector<Arrow> schedule(std::span<const collectives::Plan> plans,
                            std::span<const std::size_t> input_offsets = {});

}  // namespace rota::bench
