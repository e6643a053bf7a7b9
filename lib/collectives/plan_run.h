// Runs a plan over the channels to the peers. A message is a plan of one step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/operation.h"
#include "collectives/running.h"
#include "collectives/shared/flags.h"
#include "transport/channel.h"

namespace rota::collectives {

class PlanRun final : public Running {
 public:
  // `channels`: index = peer; the own rank's may be null. The list outlives this. `flags`: null
  // where memory is not shared. Its streams are two for each peer, from `first_stream` on.
  explicit PlanRun(std::span<transport::Channel* const> channels, const Flags* flags = nullptr,
                   std::size_t first_stream = 0);

  void add_streams(const Operation& operation, Streams& streams) const noexcept override;
  void start(const Operation& operation) override;

  // One round over the lanes.
  Turn step() override;

  bool done() const noexcept { return lanes_left_ == 0; }
  std::optional<Wait> waiting() const noexcept override;
  void compare_with(std::size_t peer) const override;

 private:
  struct LaneState {
    std::uint32_t done = 0;    // Steps finished.
    bool started = false;      // The current step is under way.
    std::size_t received = 0;  // Bytes of the current step.
  };

  const Plan& plan() const noexcept { return operation_->planned->plan; }
  const Reducer& reducer() const noexcept { return operation_->planned->reducer; }
  const Coder& coder() const noexcept { return *operation_->planned->coder; }
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
  const Flags* flags_;
  std::uint32_t first_stream_;
  std::uint32_t lanes_left_ = 0;
  const Operation* operation_ = nullptr;
  std::vector<LaneState> lanes_;
};

// Plans and messages.
class Plans final : public Method {
 public:
  // As PlanRun has them.
  explicit Plans(std::span<transport::Channel* const> channels, const Flags* flags = nullptr)
      : channels_(channels.begin(), channels.end()), flags_(flags) {}

  bool makes(Algorithm algorithm) const noexcept override { return has_plans(algorithm); }
  bool runs_plans() const noexcept override { return true; }
  std::size_t stream_count() const noexcept override { return 2 * channels_.size(); }
  std::unique_ptr<Running> make_place(std::size_t place, std::size_t first_stream) override;

 private:
  std::vector<transport::Channel*> channels_;
  const Flags* flags_;
};

}  // namespace rota::collectives
