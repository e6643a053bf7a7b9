// One line of JSON for each figure of a round, which the scripts of the pages read.
#pragma once
#include <cstdio>
#include <string>

namespace rota::bench {

// `value` is in seconds, or in images/s if `what` names a way of training.
inline void print_row(const std::string& what, double value) {
  std::printf(R"({"what": "%s", "value": %.6g})"
              "\n",
              what.c_str(), value);
  std::fflush(stdout);
}

}  // namespace rota::bench
