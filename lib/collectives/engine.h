// Runs a plan: moves what can be moved, adds what has arrived, and comes back.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "collectives/plan.h"
#include "collectives/reducer.h"
#include "collectives/signature.h"
#include "transport/channel.h"

namespace rota::collectives {

// One collective on one rank. Everything is lent until it is done.
struct Operation {
  const Plan* plan = nullptr;
  const Reducer* reducer = nullptr;
  std::byte* data = nullptr;
  Signature signature;
};

// Whom an unfinished operation waits for, and how far it has come.
struct Wait {
  std::size_t peer = 0;
  bool sends = false;
  std::uint32_t step = 0;  // Within its lane.
  std::uint32_t step_count = 0;
  std::size_t bytes = 0;  // Of the step: done, and in all.
  std::size_t step_bytes = 0;
};

class Engine {
 public:
  // Index = peer; the own rank's may be null.
  explicit Engine(std::span<transport::Channel* const> channels);

  // Requires done().
  void start(const Operation& operation);

  // One round over the lanes: never blocks, never reads a clock (`now` only becomes moved_at()).
  // True if anything moved. Throws Error kPeerLost, kMismatch; the operation can then not go on.
  bool step(base::TimePoint now);

  bool done() const noexcept { return lanes_left_ == 0; }

  const Operation& operation() const noexcept { return operation_; }
  base::TimePoint moved_at() const noexcept { return moved_at_; }
  std::optional<Wait> waiting() const noexcept;

 private:
  struct LaneState {
    std::uint32_t done = 0;    // Steps finished.
    bool started = false;      // The current step is under way.
    std::size_t received = 0;  // Bytes of the current step.
  };

  bool may_start(const Step& step) const noexcept;
  bool advance(std::size_t lane);
  bool advance_send(std::size_t lane, const Step& step);
  bool advance_receive(std::size_t lane, const Step& step);
  std::size_t take_payload(transport::Channel& channel, const Step& step, LaneState& state);
  void finish_step(std::size_t lane);
  void check_signature(const transport::Header& header, std::size_t peer, const Step& step) const;
  std::span<std::byte> bytes_of_chunk(const Step& step) const noexcept;
  transport::Header header_of(const Step& step) const noexcept;

  std::vector<transport::Channel*> channels_;
  Operation operation_;
  std::array<std::uint64_t, 4> signature_{};
  std::vector<LaneState> lanes_;
  std::size_t lanes_left_ = 0;
  base::TimePoint moved_at_{};
};

}  // namespace rota::collectives
