// Every plan gives what its collective promises where some ranks have their values on a device, in
// any order of messages and of work on streams. Method: all ranks run in this thread, over a
// simulated network and the fake device. A seed decides which rank, message or stream goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <rota/device_memory.h>

#include "collectives/device_executor.h"
#include "collectives/every_request.h"
#include "collectives/plan_run.h"
#include "device/block.h"
#include "testing/fake_device.h"
#include "testing/promises.h"
#include "testing/reference.h"
#include "transport/sim/network.h"

namespace rota {
namespace {

using collectives::Buffer;
using collectives::PlannedCollective;
using collectives::PlanRequest;
using testing::FakeDevice;

constexpr std::size_t kSegmentCount = 5;

bool is_on_device(std::size_t rank) { return rank % 3 != 0; }

// Returns memory that is never cleared: nothing works streams off while a rank is made.
DeviceBlock allocate_unwritten(std::size_t count) {
  const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(float);
  void* address = nullptr;
  if (FakeDevice::calls().allocate(0, bytes, address) != 0) std::abort();
  return {{static_cast<std::byte*>(address), count * sizeof(float), 0}, nullptr};
}

// One rank: its values and its run. The network and the device outlive it.
class SimRank {
 public:
  SimRank(transport::sim::Network& network, FakeDevice& fake, PlanRequest request,
          const Reduction& reduction)
      : fake_(fake), is_on_device_(is_on_device(request.rank)) {
    for (std::size_t peer = 0; peer < request.world_size; ++peer) {
      channels_.push_back(&network.channel(request.rank, peer));
    }
    request.type = DataType::kFloat32;
    request.reduction = reduction;
    if (is_on_device_) {
      request.memory = MemoryKind::of_device(0);
      request.segment_count = kSegmentCount;
    }
    planned_ = std::make_unique<PlannedCollective>(
        PlannedCollective{.call = request,
                          .signature = {request, request.rank},
                          .plan = collectives::make_plan(request),
                          .reducer = {kernels::reference<kernels::Reductions>(), DataType::kFloat32,
                                      reduction, request.world_size}});
    operation_ = {.planned = planned_.get(), .sequence = 1};
    const std::size_t input = testing::input_count(request);
    fill(Buffer::kValues, testing::values_count(request), request.rank, input > 0);
    fill(Buffer::kInput, input, request.rank, false);
    allocate_own();
    if (is_on_device_) {
      run_ = std::make_unique<collectives::PlanRunBy<collectives::DeviceExecutor>>(channels_);
    } else {
      run_ = std::make_unique<collectives::PlanRun>(channels_);
    }
    run_->start(operation_);
  }

  bool is_done() const { return is_done_; }
  void step() {
    if (!is_done_) is_done_ = run_->step() == collectives::Turn::kDone;
  }
  std::vector<float> values() {
    return is_on_device_ ? fake_.read(on_device_[0].as<float>()) : in_host_[0];
  }

 private:
  void fill(Buffer buffer, std::size_t count, std::size_t rank, bool is_output) {
    const auto index = static_cast<std::size_t>(buffer);
    std::vector<float>& own = in_host_[index];
    for (std::size_t i = 0; i < count; ++i) {
      own.push_back(is_output ? 99.0F : testing::value_of<float>(rank, i));
    }
    operation_.buffers[index] = reinterpret_cast<std::byte*>(own.data());
    if (!is_on_device_) return;
    on_device_[index] = allocate_unwritten(count);
    fake_.write(on_device_[index].as<float>(), own);
    operation_.buffers[index] = on_device_[index].bytes().address();
  }

  void allocate_own() {
    const collectives::Plan& plan = planned_->plan;
    if (is_on_device_) {
      staging_ = device::allocate_pinned(plan.staging_count * sizeof(float));
      operation_.staging = staging_.bytes().data();
      planned_->device_scratch = allocate_unwritten(plan.scratch_count);
      return;
    }
    const auto index = static_cast<std::size_t>(Buffer::kScratch);
    in_host_[index].resize(plan.scratch_count);
    operation_.buffers[index] = reinterpret_cast<std::byte*>(in_host_[index].data());
  }

  FakeDevice& fake_;
  bool is_on_device_;
  std::vector<transport::Channel*> channels_;
  std::array<std::vector<float>, 3> in_host_;
  std::array<DeviceBlock, 3> on_device_;
  Block staging_;
  std::unique_ptr<PlannedCollective> planned_;
  collectives::Operation operation_;
  std::unique_ptr<collectives::Running> run_;
  bool is_done_ = false;
};

// All ranks of a world that make one call.
class SimRanks {
 public:
  SimRanks(const PlanRequest& way, const Reduction& reduction, std::uint64_t seed)
      : requests_(testing::for_each_rank(way)),
        reduction_(reduction),
        random_(seed),
        fake_({.seed = seed, .has_thread = false}),
        network_(
            {.world_size = way.world_size, .seed = seed, .max_delay = 3, .short_writes = true}) {
    for (const PlanRequest& request : requests_) {
      ranks_.push_back(std::make_unique<SimRank>(network_, fake_, request, reduction));
    }
  }

  // Returns false if the ranks are not done in time.
  bool run() {
    std::vector<SimRank*> order;
    for (const auto& rank : ranks_) order.push_back(rank.get());
    for (int tick = 0; tick < 100'000; ++tick) {
      if (std::ranges::all_of(order, &SimRank::is_done)) return true;
      std::ranges::shuffle(order, random_);
      for (SimRank* rank : order) {
        rank->step();
        for (std::uint64_t pieces = random_() % 3; pieces > 0; --pieces) fake_.work();
      }
      network_.advance();
    }
    return false;
  }

  void expect_promises() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const auto promises = testing::promises(requests_, rank);
      const std::vector<float> values = ranks_[rank]->values();
      for (std::size_t i = 0; i < promises.size(); ++i) {
        if (!promises[i]) continue;
        const float expected =
            promises[i]->rank
                ? testing::value_of<float>(*promises[i]->rank, promises[i]->index)
                : testing::reduced<float>(reduction_, ranks_.size(), promises[i]->index);
        ASSERT_EQ(values[i], expected) << "rank " << rank << ", element " << i;
      }
    }
    ASSERT_EQ(fake_.crime(), "");
  }

 private:
  std::vector<PlanRequest> requests_;
  Reduction reduction_;
  std::mt19937_64 random_;
  FakeDevice fake_;
  transport::sim::Network network_;
  std::vector<std::unique_ptr<SimRank>> ranks_;
};

class SimulatedDevices : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SimulatedDevices, GiveWhatEveryPlanPromises) {
  std::uint64_t seed = 0;
  testing::for_every_kind(GetParam(), [&](const PlanRequest& way) {
    if (HasFatalFailure() || way.collective == collectives::Collective::kBarrier) return;
    const Reduction reduction =
        way.pre_scales ? Reduction::pre_scaled_sum(0.25) : Reduction(ReduceOp::kMean);
    SCOPED_TRACE(testing::describe(way) + ", seed " + std::to_string(++seed));
    SimRanks ranks(way, reduction, seed);
    ASSERT_TRUE(ranks.run()) << "a rank waits for ever";
    ranks.expect_promises();
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, SimulatedDevices, ::testing::Values(1, 2, 3, 5),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace rota
