// Sums by NCCL, called by hand and through rota. The calls by hand go through rota's table of
// NCCL's functions, which costs a jump.
#include <rota/communicator.h>
#include <rota/device_memory.h>
#include <rota/devices.h>
#include <rota/nccl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "device/calls.h"
#include "device/current.h"
#include "device/stream.h"
#include "gpu/commands.h"
#include "gpu/counted_nccl.h"
#include "gpu/row.h"
#include "gpu/sums.h"
#include "statistics.h"

namespace rota::bench::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kCallBytes[] = {4, std::size_t{1} << 20, std::size_t{64} << 20};
constexpr int kCalls = 200;
constexpr int kCallsBefore = 20;
constexpr std::chrono::seconds kLongestCreation{60};
constexpr double kMostSecondsMore = 3e-6;  // For the smallest call.
constexpr double kLeastShare = 0.99;

// A communicator of NCCL that the program has made itself.
class ByHand {
 public:
  ByHand(const nccl::Calls& calls, Communicator& comm, std::uint8_t device)
      : calls_(calls), stream_(device), done_(device) {
    nccl::Id id{};
    if (comm.rank() == 0) require(calls_.make_id(id), "the making of an id");
    comm.broadcast(id, 0);
    const device::Current current(device);
    require(calls_.create(id, comm.rank(), comm.world_size(), comm_), "the creation");
    const auto deadline = Clock::now() + kLongestCreation;
    for (int state = nccl::kInProgress; state == nccl::kInProgress; std::this_thread::yield()) {
      require(calls_.get_state(comm_, state), "the creation");
      if (state != nccl::kInProgress) require(state, "the creation");
      if (Clock::now() > deadline)
        throw std::runtime_error("NCCL made no communicator in a minute");
    }
  }
  ~ByHand() { calls_.abort(comm_); }

  void all_reduce(DeviceSpan<float> values) {
    const device::Current current(values.device());
    require(calls_.all_reduce({.comm = comm_,
                               .stream = stream_.on().stream,
                               .input = values.address(),
                               .output = values.address(),
                               .count = values.size()},
                              kMeasuredOp),
            "an all-reduce");
    stream_.record(done_);
    while (!done_.has_happened()) continue;
  }

 private:
  void require(int error, const char* what) const {
    if (error == 0 || error == nccl::kInProgress) return;
    std::array<char, 256> text{};
    calls_.describe(error, comm_, text.data(), text.size());
    throw std::runtime_error(std::string(what) + " by NCCL: " + text.data());
  }

  const nccl::Calls& calls_;
  device::Stream stream_;
  device::Event done_;
  nccl::Handle comm_ = 0;
};

template <class Call>
double median_seconds(Communicator& comm, Call call) {
  std::vector<double> seconds;
  for (int i = 0; i < kCallsBefore + kCalls; ++i) {
    comm.barrier();
    const auto begin = Clock::now();
    call();
    const std::chrono::duration<double> lasted = Clock::now() - begin;
    if (i >= kCallsBefore) seconds.push_back(lasted.count());
  }
  return median(seconds);
}

// Measures the call, and fills the row with its figures.
void compare(Communicator& comm, ByHand& by_hand, DeviceSpan<float> values, Row& row) {
  const double bare = median_seconds(comm, [&] { by_hand.all_reduce(values); });
  const double rota = median_seconds(comm, [&] { comm.all_reduce(values, kMeasuredOp); });
  const bool is_smallest = bytes_of(values).size() == kCallBytes[0];
  row.value = 1 / rota;
  row.unit = "calls/s";
  row.peer = "NCCL by hand";
  row.peer_value = 1 / bare;
  row.least_ratio = is_smallest ? bare / (bare + kMostSecondsMore) : kLeastShare;
}

void measure_calls_of(std::size_t bytes, Communicator& comm, ByHand& by_hand, std::uint8_t device) {
  const DeviceBlock block = allocate_device(bytes, device);
  const auto values = block.as<float>();
  Row row{.what = "all-reduce by NCCL, world of " + std::to_string(comm.world_size()) + ", " +
                  std::to_string(bytes) + " bytes",
          .why_not = why_no_figure(comm, values, Way::kByNccl)};
  if (row.why_not.empty()) compare(comm, by_hand, values, row);
  if (comm.rank() == 0) std::printf("%s\n", to_json(row).c_str());
}

}  // namespace

void measure_nccl() {
  const std::size_t device_count = open_devices();
  const char* why = "";
  const nccl::Calls* own = rota_calls_of_nccl(nullptr, &why);
  if (!own) throw std::runtime_error(why);
  const nccl::Calls& calls = counted(*own);  // For both sides, so both pay for the counting.
  nccl::use(calls);
  auto options = CommunicatorOptions::from_environment();
  options.plan = "nccl";
  Communicator comm(options);
  const auto device =
      static_cast<std::uint8_t>(comm.rank_table().rows[comm.rank()].local_rank % device_count);
  ByHand by_hand(calls, comm, device);
  for (const std::size_t bytes : kCallBytes) measure_calls_of(bytes, comm, by_hand, device);
}

}  // namespace rota::bench::gpu
