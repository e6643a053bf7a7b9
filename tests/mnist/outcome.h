// How a run of the example on a few images ended, as its JSON lines say.
#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "testing/process.h"

namespace rota::testing {

struct Outcome {
  std::string weights_hash;
  std::string transport;
  std::size_t world = 0;
};

// Reads rank 0's last line. The run must have ended well.
inline Outcome outcome_of(const Result& result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::istringstream out(result.out);
  std::string last;
  for (std::string line; std::getline(out, line);) {
    if (line.starts_with("{")) last = line;
  }
  const auto done = nlohmann::json::parse(last, nullptr, false);
  if (done.is_discarded() || done["event"] != "done") {
    ADD_FAILURE() << result.out;
    return {};
  }
  return {
      .weights_hash = done["weights_hash"], .transport = done["transport"], .world = done["world"]};
}

}  // namespace rota::testing
