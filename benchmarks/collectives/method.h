// The method that measures a collective. It uses the same states of values, warm-up, samples and
// checks for rota and its peers.
//
// The time of a sample is the time of the slowest rank. An isolated call is one sample, with a
// barrier of the group before it. A thousand back-to-back calls (fewer if they are large, or if the
// method says so) are one sample. The time of this sample is the mean time of a call. A row gives
// the smallest sample, the median and the 99th percentile.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collectives/group.h"
#include "collectives/row.h"
#include "collectives/work.h"

namespace rota::bench {

struct Method {
  std::vector<Collective> collectives = {Collective::kAllReduce};
  std::vector<std::size_t> sizes = {4, 1 << 10, 16 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20};
  std::vector<DataType> types = {DataType::kFloat32};
  std::vector<ReduceOp> ops = {ReduceOp::kSum};
  std::vector<Codec> codecs = {Codec::kIdentity};
  std::vector<std::string> plans = {"auto"};
  std::vector<Placement> placements = {Placement::kOutOfPlace, Placement::kInPlace};
  std::vector<Memory> memories = {Memory::kShared};
  std::vector<State> states = {State::kWarm};
  std::vector<Calls> calls = {Calls::kIsolated, Calls::kBackToBack};
  std::optional<std::size_t> iterations;  // Isolated calls a row; unset: default_iterations().
  // Calls of a back-to-back sample; unset: up to a thousand.
  std::optional<std::size_t> back_to_back = std::nullopt;
  bool checks = false;
};

// The rows of one way to call, out of place and in place. A row is empty if the group has no
// such call.
struct Line {
  std::optional<Row> out_of_place;
  std::optional<Row> in_place;
};

// Returns fewer iterations for larger sizes, which take longer.
std::size_t default_iterations(std::size_t bytes) noexcept;

// Returns the number of calls that warm up before so many isolated calls.
std::size_t warm_up_calls(std::size_t iterations) noexcept;

// The largest size for back-to-back calls. Larger sizes, and fresh values of any size, are measured
// only in isolated calls.
inline constexpr std::size_t kMostBackToBack = 64 << 10;

// Collective. Calls `report` on every rank as soon as a line is complete. Leaves out combinations
// that do not exist or that the group does not support.
void measure(Group& group, const Method& method, const std::function<void(const Line&)>& report);

}  // namespace rota::bench
