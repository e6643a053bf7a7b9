// Runs a plan: moves what can be moved, adds what has arrived, and comes back.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/plan.h"
#include "collectives/reducer.h"
#include "collectives/signature.h"
#include "transport/channel.h"

namespace rota::collectives {

// One collective on one rank. Everything is lent until it is done.
struct Operation {
  const Plan* plan = nullptr;
  const Reducer* reducer = nullptr;
  std::array<std::byte*, kBufferCount> buffers{};  // Index = Buffer. The input is never written.
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

  // One round over the lanes: never blocks, never reads a clock. True if anything moved.
  // Throws Error kPeerLost, kMismatch; the operation can then not go on.
  bool step();

  bool done() const noexcept { return lanes_left_ == 0; }

  const Operation& operation() const noexcept { return operation_; }
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
  bool advance_local(std::size_t lane, const Step& step) noexcept;
  std::size_t take_payload(transport::Channel& channel, const Step& step, LaneState& state);
  void finish_step(std::size_t lane);
  void check_header(const transport::Header& header, std::size_t lane, const Step& step) const;
  std::span<std::byte> bytes_at(const Place& place) const noexcept;
  transport::Header header_of(std::size_t lane, const Step& step) const noexcept;

  std::vector<transport::Channel*> channels_;
  Operation operation_;
  std::array<std::uint64_t, 4> signature_{};
  std::vector<LaneState> lanes_;
  std::size_t lanes_left_ = 0;
};

}  // namespace rota::collectives
