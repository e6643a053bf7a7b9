// What reproducibility_ranks says of a world's bits, and what docs/reproducibility.md says of them
// in any one world.
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

// By "PLAN WAY": "ring in-place".
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

// The columns that compare calls of one world of three ranks or more.
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

// The last column: the same six terms, dealt out to two ranks and to three.
inline void expect_other_bits_in_another_world(BitsOfPlans two, BitsOfPlans three) {
  for (const std::string plan : kPlans) {
    EXPECT_NE(two[plan + " of-six-terms"], three[plan + " of-six-terms"]) << plan;
    EXPECT_EQ(two[plan + " in-two-buckets"], two[plan + " in-place"])
        << plan << ": two terms have one order";
  }
}

// All but those of the plan that looks at which ranks share a host.
inline BitsOfPlans without_two_level(BitsOfPlans bits) {
  std::erase_if(bits, [](const auto& entry) { return entry.first.starts_with("two-level"); });
  return bits;
}

// Those of the plan that has one transport, whose bits are the ring's.
inline BitsOfPlans take_shared_memory(BitsOfPlans& bits) {
  constexpr std::string_view kName = "shared-memory";
  BitsOfPlans taken;
  for (const auto& [call, hash] : bits) {
    if (call.starts_with(kName)) taken["ring" + call.substr(kName.size())] = hash;
  }
  std::erase_if(bits, [&](const auto& entry) { return entry.first.starts_with(kName); });
  return taken;
}

// The ring's, by call.
inline BitsOfPlans ring_in(BitsOfPlans bits) {
  std::erase_if(bits, [](const auto& entry) { return !entry.first.starts_with("ring"); });
  return bits;
}

inline std::string two_level_in(BitsOfPlans bits) { return bits["two-level in-place"]; }

}  // namespace rota::testing
