// Runs plans over the channels to the peers. A send or a receive call is a plan of one step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/executor.h"
#include "collectives/operation.h"
#include "collectives/running.h"
#include "collectives/shared/flags_page.h"
#include "transport/channel.h"

namespace rota::collectives {

// Runs plans one after another. `Executor` does their local steps: see HostExecutor.
template <class Executor>
class PlanRunBy final : public Running {
 public:
  // `channels`: index = peer; null where no plan has a message, such as this rank's own. The list
  // must outlive this object. `flags`: null if ranks do not share memory. The run has two streams
  // for each peer, from `first_stream` on.
  explicit PlanRunBy(std::span<transport::Channel* const> channels, const Flags* flags = nullptr,
                     std::size_t first_stream = 0);

  void add_streams(const Operation& operation, Streams& streams) const noexcept override;
  void start(const Operation& operation) override;

  // Makes one round over the lanes.
  Turn step() override;

  bool done() const noexcept { return lanes_left_ == 0; }
  std::optional<Wait> waiting() const noexcept override;
  void compare_with(std::size_t peer) const override;
  std::string_view keeps_buffers() const noexcept override;

 private:
  struct LaneState {
    std::uint32_t done = 0;    // Steps finished.
    bool started = false;      // The current step is under way.
    std::size_t received = 0;  // Bytes of the current step.
  };

  const Plan& plan() const noexcept { return operation_->planned->plan; }
  const Reducer& reducer() const noexcept { return operation_->planned->reducer; }
  const Coder& coder() const noexcept { return *operation_->planned->coder; }
  // For a plan that stages. Without stages, a step is a message.
  const Part& part_of(std::size_t lane) const noexcept {
    return plan().parts[plan().lanes[lane].first_step + lanes_[lane].done];
  }
  bool begins_message(std::size_t lane) const noexcept {
    if constexpr (Executor::kStages) return part_of(lane).begins;
    return true;
  }
  bool ends_message(std::size_t lane) const noexcept {
    if constexpr (Executor::kStages) return part_of(lane).ends;
    return true;
  }
  // A plan may have no step that waits for the caller's streams.
  bool executor_has_come() const {
    if constexpr (Executor::kStages) return executor_.has_come();
    return true;
  }
  bool may_start(const Step& step) const noexcept;
  bool advance(std::size_t lane);
  bool advance_send(std::size_t lane, const Step& step);
  bool advance_receive(std::size_t lane, const Step& step);
  bool advance_local(std::size_t lane, const Step& step);
  std::size_t take_payload(transport::Channel& channel, const Step& step, LaneState& state);
  void finish_step(std::size_t lane);
  void check_header(const transport::Header& header, std::size_t lane, const Step& step) const;
  std::byte* start_of(Buffer buffer) const noexcept;
  std::span<std::byte> bytes_at(const Place& place) const noexcept;
  transport::Header header_of(std::size_t lane, const Step& step) const noexcept;

  std::span<transport::Channel* const> channels_;
  const Flags* flags_;
  std::uint32_t first_stream_;
  std::uint32_t lanes_left_ = 0;
  const Operation* operation_ = nullptr;
  std::vector<LaneState> lanes_;
  [[no_unique_address]] Executor executor_;
};

using PlanRun = PlanRunBy<HostExecutor>;

// The method for plans, and so for sends and receives.
class Plans final : public Method {
 public:
  // The arguments are as for PlanRun.
  explicit Plans(std::span<transport::Channel* const> channels, const Flags* flags = nullptr)
      : channels_(channels.begin(), channels.end()), flags_(flags) {}

  bool makes(Algorithm algorithm) const noexcept override { return has_plans(algorithm); }
  bool runs_plans() const noexcept override { return true; }
  std::size_t stream_count() const noexcept override { return 2 * channels_.size(); }
  std::unique_ptr<Running> make_place(std::size_t place, std::size_t first_stream) override;

  // The next three are for DevicePlans, which uses the same channels and so the same streams.
  std::span<transport::Channel* const> channels() const noexcept { return channels_; }
  const Flags* flags() const noexcept { return flags_; }
  std::size_t first_stream() const noexcept { return first_stream_; }

 private:
  std::vector<transport::Channel*> channels_;
  const Flags* flags_;
  std::size_t first_stream_ = 0;  // Known once there is a place.
};

// The method for plans whose values are on a device. Their messages go through segments of host
// memory, so the peers need not know of the device.
class DevicePlans final : public Method {
 public:
  // `plans` must outlive this object, and make its places first.
  explicit DevicePlans(const Plans& plans) : plans_(plans) {}

  bool makes(Algorithm algorithm) const noexcept override { return has_plans(algorithm); }
  bool takes(MemoryKind memory) const noexcept override { return !memory.is_host(); }
  bool runs_plans() const noexcept override { return true; }
  bool host_reads_values() const noexcept override { return false; }
  std::size_t stream_count() const noexcept override { return 0; }
  std::unique_ptr<Running> make_place(std::size_t place, std::size_t first_stream) override;

 private:
  const Plans& plans_;
};

}  // namespace rota::collectives
