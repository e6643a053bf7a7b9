// Runs a plan: moves what can be moved, adds what has arrived, and comes back.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/exchange.h"
#include "collectives/operation.h"
#include "transport/board.h"
#include "transport/channel.h"

namespace rota::collectives {

class PlanRun {
 public:
  // `channels`: index = peer; the own rank's may be null. The list outlives the engine. `board`:
  // null where memory is not shared.
  explicit PlanRun(std::span<transport::Channel* const> channels, transport::Board* board = nullptr);

  // Requires done(). The operation is lent until it is done again. Throws Error kNoMemory.
  void start(const Operation& operation);

  // One round over the lanes: never blocks, never reads a clock. True if anything moved.
  // Throws Error kPeerLost, kMismatch, kNoMemory; the operation can then not go on.
  bool step();

  bool done() const noexcept { return lanes_left_ == 0; }

  // Whether those that have been started after it can do nothing yet.
  bool holds_others_up() const noexcept { return exchanging_ && exchange_.holds_others_up(); }

  const Operation& operation() const noexcept { return operation_; }
  std::optional<Wait> waiting() const noexcept;

  // For who waits in vain: where one rank is in an exchange and the other one is not, no message
  // shows that they disagree. Throws Error kMismatch. Requires !done().
  void compare_with(std::size_t peer) const;

 private:
  struct LaneState {
    std::uint32_t done = 0;    // Steps finished.
    bool started = false;      // The current step is under way.
    std::size_t received = 0;  // Bytes of the current step.
  };

  void start_lanes();
  bool step_exchange();
  bool may_start(const Step& step) const noexcept;
  bool advance(std::size_t lane);
  bool advance_send(std::size_t lane, const Step& step);
  bool advance_receive(std::size_t lane, const Step& step);
  bool advance_local(std::size_t lane, const Step& step) noexcept;
  void encode(const Step& step) const noexcept;
  std::size_t take_payload(transport::Channel& channel, const Step& step, LaneState& state);
  void finish_step(std::size_t lane);
  void check_header(const transport::Header& header, std::size_t lane, const Step& step) const;
  std::span<std::byte> bytes_at(const Place& place) const noexcept;
  transport::Header header_of(std::size_t lane, const Step& step) const noexcept;

  std::span<transport::Channel* const> channels_;
  transport::Board* board_;
  Exchange exchange_;
  bool exchanging_ = false;
  Operation operation_;
  std::array<std::uint64_t, 4> signature_{};
  std::vector<LaneState> lanes_;
  std::size_t lanes_left_ = 0;  // An exchange counts as one.
};

}  // namespace rota::collectives
