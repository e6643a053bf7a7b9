// Reads the output of reproducibility_ranks, and checks it against the statements of
// docs/reproducibility.md about a single world.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include "testing/process.h"

namespace rota::testing {

inline constexpr std::array kPlans = {"ring", "direct", "hub",      "by-host", "halving-doubling",
                                      "tree", "star",   "two-level"};

// Key: "PLAN WAY", such as "ring in-place".
using BitsOfPlans = std::map<std::string, std::string>;

inline BitsOfPlans bits_in(const Result& result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
  BitsOfPlans bits;
  std::istringstream lines(result.out);
  std::string plan;
  std::string way;
  std::string hash;
  while (lines >> plan >> way >> hash) bits[plan + " " + way] = hash;
  EXPECT_GE(bits.size(), kPlans.size() * 5) << result.out;
  return bits;
}

// Checks the columns that compare calls within one world. Needs three ranks or more.
inline void expect_columns_of_one_world(BitsOfPlans bits) {
  for (const std::string plan : kPlans) {
    const std::string whole = bits[plan + " in-place"];
    EXPECT_EQ(bits[plan + " in-shared-memory"], whole) << plan;
    EXPECT_EQ(bits[plan + " from-an-input"], whole) << plan;
    const bool keeps_in_buckets = plan == "halving-doubling" || plan == "tree" || plan == "star";
    for (const std::string way : {" in-two-buckets", " in-a-group"}) {
      EXPECT_EQ(bits[plan + way] == whole, keeps_in_buckets) << plan << way;
    }
  }
  EXPECT_EQ(bits["direct in-place"], bits["ring in-place"]);
  EXPECT_EQ(bits["hub in-place"], bits["ring in-place"]);
  EXPECT_EQ(bits["by-host in-place"], bits["ring in-place"]);
  EXPECT_NE(bits["tree in-place"], bits["ring in-place"]);
}

// Checks the last column: each plan gives other bits if the same six terms are distributed over two
// ranks and over three.
inline void expect_other_bits_in_another_world(BitsOfPlans two, BitsOfPlans three) {
  for (const std::string plan : kPlans) {
    EXPECT_NE(two[plan + " of-six-terms"], three[plan + " of-six-terms"]) << plan;
    EXPECT_EQ(two[plan + " in-two-buckets"], two[plan + " in-place"])
        << plan << ": two terms have one order";
  }
}

// Returns all plans except two-level, whose bits depend on which ranks share a host.
inline BitsOfPlans without_two_level(BitsOfPlans bits) {
  std::erase_if(bits, [](const auto& entry) { return entry.first.starts_with("two-level"); });
  return bits;
}

// Removes and returns the bits of the shared-memory plan, under the ring's name: the plan has the
// ring's bits.
inline BitsOfPlans take_shared_memory(BitsOfPlans& bits) {
  constexpr std::string_view kName = "shared-memory";
  BitsOfPlans taken;
  for (const auto& [call, hash] : bits) {
    if (call.starts_with(kName)) taken["ring" + call.substr(kName.size())] = hash;
  }
  std::erase_if(bits, [&](const auto& entry) { return entry.first.starts_with(kName); });
  return taken;
}

// Returns the bits of the ring only, for each way to call it.
inline BitsOfPlans ring_in(BitsOfPlans bits) {
  std::erase_if(bits, [](const auto& entry) { return !entry.first.starts_with("ring"); });
  return bits;
}

inline std::string two_level_in(BitsOfPlans bits) { return bits["two-level in-place"]; }

}  // namespace rota::testing
