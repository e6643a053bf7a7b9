// While the ranks of a new group connect, the launcher may say that a rank has failed. It numbers
// ranks as in the job, and the error numbers them as in the group. Method: the test plays the
// launcher of one rank, and lets it speak when the group begins to connect.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rota/communicator.h>

#include "communicator/thread_world.h"
#include "communicator/toy_transport.h"
#include "os/message_socket.h"
#include "testing/error_of.h"
#include "testing/on_every_rank.h"

namespace rota {
namespace {

using rendezvous::Message;
using rendezvous::MessageType;

constexpr std::size_t kHearingRank = 1;

// Its ranks never connect: they look around once.
class HearingFabric final : public transport::Fabric {
 public:
  HearingFabric(std::size_t own_count, std::function<void()> speak)
      : own_count_(own_count), speak_(std::move(speak)) {}

  std::vector<transport::Ticket> issue(const std::string&) override {
    return std::vector<transport::Ticket>(own_count_);
  }
  std::vector<std::unique_ptr<transport::Transport>> connect(std::span<const transport::Ticket>,
                                                             const transport::CallTerms& terms,
                                                             base::TimePoint) override {
    speak_();
    terms.look_around();
    throw Error(ErrorCode::kTimeout, "nobody has called");
  }

 private:
  std::size_t own_count_;
  std::function<void()> speak_;
};

// Moves data as the transport inside does. Only groups that are made from it are others.
class HearingTransport final : public transport::Transport {
 public:
  HearingTransport(std::unique_ptr<transport::Transport> inside, std::function<void()> speak)
      : inside_(std::move(inside)), speak_(std::move(speak)) {}

  std::string_view name() const noexcept override { return inside_->name(); }
  transport::Channel& channel(std::size_t peer) noexcept override { return inside_->channel(peer); }
  void sleep(base::Duration at_most) override { inside_->sleep(at_most); }
  void wake() noexcept override { inside_->wake(); }
  bool ends_by_itself(std::size_t peer) const noexcept override {
    return inside_->ends_by_itself(peer);
  }
  std::unique_ptr<transport::Fabric> group_fabric(const transport::GroupShape& shape) override {
    return std::make_unique<HearingFabric>(shape.own.size(), speak_);
  }
  Block allocate(std::size_t bytes) override { return inside_->allocate(bytes); }
  std::uint64_t sent_bytes() const noexcept override { return inside_->sent_bytes(); }
  std::uint64_t staged_bytes() const noexcept override { return inside_->staged_bytes(); }
  void abort(const transport::Cause& cause) noexcept override { inside_->abort(cause); }
  bool broken() const noexcept override { return inside_->broken(); }
  std::optional<transport::Cause> aborted() override { return inside_->aborted(); }

 private:
  std::unique_ptr<transport::Transport> inside_;
  std::function<void()> speak_;
};

// What kHearingRank throws when the launcher blames a rank of the job, and whom it then blames to
// the launcher.
struct Heard {
  std::optional<Error> error;
  std::optional<std::uint32_t> told;
};

// Ranks 1 and 2 of three ranks make a group, in which they are ranks 0 and 1.
Heard heard_when_blamed(std::uint32_t blamed) {
  static std::uint64_t worlds = std::uint64_t{1} << 20;
  ++worlds;
  const base::Domains domains = base::each_alone(3);
  auto ends = os::make_message_socket_pair();
  const os::Fd& launcher = ends.first;
  const auto speak = [&launcher, blamed] {
    const Message message{.type = MessageType::kAborted,
                          .error = ErrorCode::kAborted,
                          .blamed = blamed,
                          .text = "a rank has failed"};
    os::send_message(launcher.get(), rendezvous::encode(message), {});
  };
  std::vector<std::unique_ptr<transport::Transport>> transports;
  std::vector<std::shared_ptr<Membership>> memberships;
  for (std::size_t rank = 0; rank < domains.size(); ++rank) {
    const transport::CallTerms terms{.addresses = {}, .key = {}, .incarnation = worlds};
    const transport::GroupShape shape{.domains = domains, .own = {rank}};
    const auto says = rank == kHearingRank ? std::function<void()>(speak) : [] {};
    transports.push_back(std::make_unique<HearingTransport>(
        testing::join_toy(shape, {}, terms, base::Clock::now()), says));
    memberships.push_back(std::make_shared<Membership>(rank, domains.size()));
  }
  memberships[kHearingRank]->connect(rendezvous::Client(std::move(ends.second)), nullptr);
  CommunicatorOptions options;
  options.deadline = std::chrono::seconds(20);
  auto world = ThreadWorld::over(domains, std::move(transports), options, memberships);
  Heard heard;
  testing::on_every_rank(world, [&](Communicator& communicator) {
    const std::size_t rank = communicator.rank();
    auto error = testing::error_of([&] { communicator.split(rank == 0 ? 0 : 1); });
    if (rank == kHearingRank) heard.error = std::move(error);
  });
  std::vector<std::byte> bytes;
  std::vector<os::Fd> fds;
  while (os::receive_message(launcher.get(), bytes, fds) == os::Io::kDone) {
    const auto message = rendezvous::decode(bytes);
    if (message && message->type == MessageType::kAbort) heard.told = message->blamed;
  }
  return heard;
}

TEST(CreateGroup, BlamesARankOfTheGroupByItsNumberThere) {
  const Heard heard = heard_when_blamed(2);
  ASSERT_TRUE(heard.error);
  EXPECT_STREQ(heard.error->what(), "a rank has failed");
  EXPECT_EQ(heard.error->blamed_rank(), 1U);
  EXPECT_EQ(heard.told, 2U);
}

TEST(CreateGroup, BlamesNoRankOfTheGroupForAnother) {
  const Heard heard = heard_when_blamed(0);
  ASSERT_TRUE(heard.error);
  EXPECT_EQ(heard.error->blamed_rank(), std::nullopt);
  EXPECT_EQ(heard.told, 0U);
}

}  // namespace
}  // namespace rota
