// Measures several kinds of training steps by turns. So a machine that is slow for a while slows
// all kinds.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace rota::bench {

// A kind of step. `run` makes the given number of steps, one after the other.
struct Contestant {
  std::function<void(std::size_t steps)> run;
  std::vector<double>* seconds = nullptr;  // Receives the time of a step in each round.
};

// What all ranks do together. `slowest` returns the largest of the values that the ranks give.
struct AllRanks {
  std::function<void()> barrier;
  std::function<double(double value)> slowest;
};

// Returns a function that makes the same step again and again.
inline std::function<void(std::size_t)> repeated(std::function<void()> step) {
  return [step = std::move(step)](std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) step();
  };
}

// Collective. Each round begins with the next contestant. So no effect of the order always hits the
// same contestant. A sample is the time of a step of the slowest rank.
inline void take_turns(const AllRanks& ranks, std::span<const Contestant> contestants,
                       std::size_t steps, std::size_t rounds) {
  using Clock = std::chrono::steady_clock;
  for (const Contestant& contestant : contestants) contestant.run(1);  // Warms up.
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < contestants.size(); ++turn) {
      const Contestant& contestant = contestants[(round + turn) % contestants.size()];
      ranks.barrier();
      const Clock::time_point begin = Clock::now();
      contestant.run(steps);
      const std::chrono::duration<double> taken = Clock::now() - begin;
      contestant.seconds->push_back(ranks.slowest(taken.count() / static_cast<double>(steps)));
    }
  }
}

}  // namespace rota::bench
