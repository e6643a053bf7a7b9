// After which step the ranks of a job stop, so that all have taken the same ones. A machine without
// a clock, a socket or a thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace rota::rendezvous {

class StopAgreement {
 public:
  explicit StopAgreement(std::size_t world_size) : ranks_(world_size) {}

  // What a rank says, as message.h has it. `may_train`: whether it may take its first step now; if
  // not, it is to ask again when the last step is known.
  bool may_train(std::size_t rank);
  void on_trained(std::size_t rank, std::uint64_t step);
  void on_begun(std::size_t rank, std::uint64_t step);
  void on_departure(std::size_t rank) { ranks_[rank].state = State::kGone; }

  // Whether the ranks can agree: somebody trains, and nobody is here who has never trained.
  bool is_possible() const;

  // Those who are to be asked now. Requires that it is possible.
  std::vector<std::size_t> begin();

  // The last step, once it is known: when all who train have answered. The same ever after.
  std::optional<std::uint64_t> settle();

 private:
  // One that rests has trained, and may again.
  enum class State { kNew, kTraining, kResting, kGone };
  struct Rank {
    State state = State::kNew;
    std::optional<std::uint64_t> begun;  // Its last step; none while it may begin another one.
  };

  std::vector<Rank> ranks_;
  bool has_begun_ = false;
  std::optional<std::uint64_t> last_step_;
};

}  // namespace rota::rendezvous
