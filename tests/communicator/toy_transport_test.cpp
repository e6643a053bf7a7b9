// Another transport needs its own files and two table rows, and no change elsewhere. Ranks join
// over it, every collective runs over it, and groups split off keep the transport and its name.
#include "communicator/toy_transport.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <rota/communicator.h>

#include "communicator/thread_world.h"
#include "testing/every_collective.h"
#include "testing/on_every_rank.h"

namespace rota {
namespace {

constexpr std::array kWithToy{testing::kToyFactory};

std::vector<Communicator> toy_world(std::size_t world_size) {
  static std::uint64_t worlds = 0;
  ++worlds;
  const base::Domains domains = base::each_alone(world_size);
  std::vector<std::unique_ptr<transport::Transport>> transports;
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    const transport::CallTerms terms{.addresses = {}, .key = {}, .incarnation = worlds};
    transports.push_back(transport::join(base::transport_between(domains, &testing::kToyRow),
                                         {.domains = domains, .own = {rank}}, {}, terms,
                                         base::Clock::now(), kWithToy));
  }
  CommunicatorOptions options;
  options.deadline = std::chrono::seconds(20);
  return ThreadWorld::over(domains, std::move(transports), options);
}

void expect_all_over_toy(Communicator& communicator) {
  EXPECT_EQ(communicator.rank_table().transport, "toy");
  testing::EveryCollectiveCheck<float>(communicator).run(257);
  testing::EveryCollectiveCheck<std::int64_t, testing::AsRequests>(communicator).run(33);
}

TEST(ToyTransport, CarriesEveryCollective) {
  for (const std::size_t world_size : {2, 3, 5}) {
    auto world = toy_world(world_size);
    testing::on_every_rank(world, expect_all_over_toy);
  }
}

TEST(ToyTransport, IsThatOfGroupsThatAreSplitOff) {
  auto world = toy_world(5);
  testing::on_every_rank(world, [](Communicator& communicator) {
    Communicator half = communicator.split(communicator.rank() % 2);
    expect_all_over_toy(half);
    Communicator again = half.split(0, half.world_size() - half.rank());
    expect_all_over_toy(again);
    EXPECT_EQ(again.split(again.rank()).rank_table().transport, "none");
  });
}

}  // namespace
}  // namespace rota
