// Runs all ranks of a world in this thread: real plans over a simulated network.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <rota/error.h>

#include "collectives/plan_run.h"
#include "transport/sim/network.h"

namespace rota::testing {

struct SimWorldOptions {
  std::size_t world_size = 0;
  std::uint64_t seed = 0;
  std::uint64_t max_delay = 5;
  bool short_writes = true;
  // A rank that moves something takes its next turn at once, up to so many turns in a tick. A tick
  // looks at all ranks, so a large world should need few ticks.
  std::size_t turns_in_a_tick = 1;
};

class SimWorld {
 public:
  explicit SimWorld(const SimWorldOptions& options);

  // Gives every rank the values [f(rank, 0), f(rank, 1), …].
  template <class F>
  void fill(std::size_t count, F f) {
    for (std::size_t rank = 0; rank < memory_.size(); ++rank) {
      fill_buffer<float>(rank, collectives::Buffer::kValues, count,
                         [&](std::size_t i) { return f(rank, i); });
    }
  }

  template <class T, class F>
  void fill_buffer(std::size_t rank, collectives::Buffer buffer, std::size_t count, F f) {
    auto& bytes = memory_[rank][static_cast<std::size_t>(buffer)];
    bytes.resize(count * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) {
      const T value = f(i);
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
  }

  // Starts the collective on one rank, or on all ranks.
  void start(std::size_t rank, const collectives::PlanRequest& request, const Reduction& reduction,
             DataType type = DataType::kFloat32);
  void start_all(const collectives::PlanRequest& request,
                 const Reduction& reduction = ReduceOp::kSum, DataType type = DataType::kFloat32);

  // Gives every rank its turns, in a random order, and lets a tick pass. A rank whose operation
  // throws is lost to the others from then on: a process that fails closes its connections.
  void tick();

  // Ticks until every rank is done or has failed. Returns false if that takes more than `most`
  // ticks.
  bool run(std::size_t most = 200000);

  bool done(std::size_t rank) const { return started_[rank] && runs_[rank]->done(); }
  bool over() const;
  const std::optional<Error>& error(std::size_t rank) const { return errors_[rank]; }
  template <class T = float>
  std::vector<T> values(std::size_t rank) const {
    const auto& bytes = memory_[rank][0];
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  const collectives::PlanRun& run_of(std::size_t rank) const { return *runs_[rank]; }
  // Returns the number of wires that the plans so far use. A wire leads from one rank to another.
  std::size_t wire_count() const noexcept { return network_.wire_count(); }
  void lose(std::size_t rank);     // The rank ends; its connections break.
  void silence(std::size_t rank);  // The rank stops; no peer is told.

  // Returns what is needed to replay a failure: "world 3, seed 17".
  std::string replay() const;

 private:
  void take_turns(std::size_t rank);

  SimWorldOptions options_;
  std::mt19937_64 random_;
  transport::sim::Network network_;
  std::vector<std::array<std::vector<std::byte>, collectives::kBufferCount>> memory_;  // Per rank.
  // Indices: rank, peer. Null if no plan so far has a message between the two.
  std::vector<std::vector<transport::Channel*>> channels_;
  std::vector<std::unique_ptr<collectives::PlanRun>> runs_;
  std::vector<collectives::Operation> operations_;
  std::vector<std::unique_ptr<collectives::PlannedCollective>> planned_;
  std::vector<std::optional<Error>> errors_;
  std::vector<bool> started_;
  std::vector<bool> gone_;
};

}  // namespace rota::testing
