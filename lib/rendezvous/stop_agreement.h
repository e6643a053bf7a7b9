// Decides after which step the ranks of a job stop, so that all ranks have done the same steps.
// This is a state machine without a clock, a socket or a thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace rota::rendezvous {

class StopAgreement {
 public:
  explicit StopAgreement(std::size_t world_size) : ranks_(world_size) {}

  // These functions handle the messages of a rank: see message.h. may_train() returns whether the
  // rank may begin its first step now. If it may not, ask again when the last step is known.
  bool may_train(std::size_t rank);
  void on_trained(std::size_t rank, std::uint64_t step);
  void on_begun(std::size_t rank, std::uint64_t step);
  void on_departure(std::size_t rank) { ranks_[rank].state = State::kGone; }

  // Returns whether the ranks can agree: some rank trains now, and every rank that has not left has
  // begun to train at least once.
  bool is_possible() const;

  // Returns the ranks to ask now. Requires is_possible().
  std::vector<std::size_t> begin();

  // Returns the last step, once it is known: when all ranks that train have answered. The last step
  // never changes later.
  std::optional<std::uint64_t> settle();

 private:
  // kResting: the rank has trained, and may train again.
  enum class State { kNew, kTraining, kResting, kGone };
  struct Rank {
    State state = State::kNew;
    std::optional<std::uint64_t> begun;  // The rank's last step; empty while it may begin another.
  };

  std::vector<Rank> ranks_;
  bool has_begun_ = false;
  std::optional<std::uint64_t> last_step_;
};

}  // namespace rota::rendezvous
