// How a collective is measured: the same states, warm-up, samples and checks for rota and for its
// peers.
//
// A sample's time is that of the slowest rank. An isolated call is a sample of its own, with the
// group's barrier before it; calls back to back are a sample by the thousand, fewer where they are
// large, and its time is their mean. A row gives the smallest sample, the median and the 99th
// percentile.
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
  std::optional<std::size_t> iterations;  // Isolated calls a row; default_iterations() where unset.
  bool checks = false;
};

// What is measured in the same way, out of place and in place, as far as the group has both.
struct Line {
  std::optional<Row> out_of_place;
  std::optional<Row> in_place;
};

// Fewer for what takes longer.
std::size_t default_iterations(std::size_t bytes) noexcept;

// More bytes than that are measured in isolated calls only, and so are fresh values.
inline constexpr std::size_t kMostBackToBack = 64 << 10;

// Calls `report` on every rank, as soon as there is a line. Combinations that make no sense or that
// the group does not have are left out. Collective.
void measure(Group& group, const Method& method, const std::function<void(const Line&)>& report);

}  // namespace rota::bench
