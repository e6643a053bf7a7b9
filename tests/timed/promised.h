// Checks times that users are promised. A test allows twice the promised time: enough for a slow
// machine, and too little for a wait that is not needed.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "testing/process.h"

namespace rota::testing {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

#if defined(ROTA_IS_SANITIZED)
inline constexpr int kMostOfAPromise = 8;       // Sanitized programs are several times slower.
inline constexpr std::size_t kManyRanks = 400;  // Sanitized keepers take much memory.
#else
inline constexpr int kMostOfAPromise = 2;
inline constexpr std::size_t kManyRanks = 2000;  // Starting so many takes seconds.
#endif

inline void expect_promise(Clock::time_point begin, Clock::duration promise,
                           const std::string& what) {
  const auto took = Clock::now() - begin;
  EXPECT_LE(took, kMostOfAPromise * promise)
      << what << " took " << std::chrono::duration<double>(took).count() << " s; promised are "
      << std::chrono::duration<double>(promise).count();
}

// Returns when a rank of fault_ranks failed, as the rank prints on stderr: "harm at 123456789". All
// processes of a machine share this clock.
inline Clock::time_point harm_in(const std::string& err) {
  const std::string words = "harm at ";
  const std::size_t at = err.find(words);
  EXPECT_NE(at, std::string::npos) << err;
  if (at == std::string::npos) return {};
  return Clock::time_point(std::chrono::nanoseconds(std::stoll(err.substr(at + words.size()))));
}

}  // namespace rota::testing
