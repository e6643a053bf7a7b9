// Runs worlds without a launcher: each rank is a thread that joins by options of its own, over real
// sockets on loopback.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <rota/communicator.h>

#include "testing/own_ports.h"

namespace rota {

inline const std::string kKey(32, 'k');

inline CommunicatorOptions options_for(std::size_t rank, const std::vector<std::string>& addresses,
                                       const std::string& key = {}) {
  CommunicatorOptions options;
  options.by_hand = {.table = table_of(addresses), .rank = rank, .key = key};
  options.join_timeout = std::chrono::seconds(20);
  options.deadline = std::chrono::seconds(20);
  return options;
}

// For each rank: nothing, or the error that ended the rank.
using Outcomes = std::vector<std::optional<Error>>;
using Body = std::function<void(Communicator&)>;

// Runs a rank to its end in this thread.
inline std::optional<Error> run_rank(const CommunicatorOptions& options, const Body& body) {
  try {
    Communicator communicator(options);
    body(communicator);
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

inline Outcomes run_ranks(const std::vector<CommunicatorOptions>& ranks, const Body& body) {
  Outcomes outcomes(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    threads.emplace_back([&, rank] { outcomes[rank] = run_rank(ranks[rank], body); });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

inline Outcomes run_world(std::size_t world_size, const Body& body, const std::string& key = {}) {
  const auto addresses = testing::free_addresses(world_size);
  std::vector<CommunicatorOptions> ranks;
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    ranks.push_back(options_for(rank, addresses, key));
  }
  return run_ranks(ranks, body);
}

inline void expect_no_errors(const Outcomes& outcomes) {
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    EXPECT_FALSE(outcomes[rank]) << "rank " << rank << ": " << outcomes[rank]->what();
  }
}

inline void expect_error(const std::optional<Error>& error, ErrorCode code,
                         const ::testing::Matcher<std::string>& text) {
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), code) << error->what();
  EXPECT_THAT(error->what(), text);
}

inline void sum_of_ranks(Communicator& comm) {
  std::vector<float> values(1000, static_cast<float>(comm.rank()));
  comm.all_reduce(values, ReduceOp::kSum);
  const auto n = static_cast<float>(comm.world_size());
  for (const float value : values) ASSERT_EQ(value, n * (n - 1) / 2);
}

}  // namespace rota
