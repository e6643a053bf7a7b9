// A coordinator in rank 0's own process: members come in, whoever else calls does not disturb them.
// Method: real sockets on loopback. Other ranks are clients of the test, strangers bare sockets.
#include "rendezvous/host.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/exchange.h"
#include "os/listener.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"
#include "rendezvous/client.h"
#include "rendezvous/remote_line.h"

namespace rota::rendezvous {
namespace {

using base::Clock;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kEpoch = 4;

base::TimePoint soon() { return Clock::now() + seconds(20); }

class HostTest : public ::testing::Test {
 protected:
  void listen() {
    listener_ = os::listen_on_loopback();
    address_ = listener_.address;
  }

  // Rank 0 joins at once.
  void start(std::size_t world_size) {
    if (!listener_.socket) listen();
    Job job;
    job.table.transport = "tcp";
    job.table.rows.resize(world_size);
    job.table.epoch = kEpoch;
    job.lends = false;
    host_ = std::make_unique<Host>(job, key_, std::move(listener_.socket));
    rank_0_.emplace(host_->take_line(), 0);
    EXPECT_EQ(rank_0_->join(soon()).job.rank, 0U);
  }

  static auth::Identity identity_of(std::uint32_t rank) {
    return {.channel = auth::Channel::kControl, .epoch = kEpoch, .from = rank, .to = 0};
  }

  // A rank that has called, but has not joined.
  Client call(std::uint32_t rank) {
    return {call_host(address_, key_, identity_of(rank), soon()), 0};
  }

  Client joined(std::uint32_t rank) {
    Client client = call(rank);
    EXPECT_EQ(client.join(soon()).job.rank, rank);
    return client;
  }

  // How a call ends that is in vain.
  std::optional<Error> refusal_of(const auth::Identity& identity, const auth::Key& key) {
    try {
      call_host(address_, key, identity, Clock::now() + milliseconds(300));
    } catch (const Error& error) {
      return error;
    }
    return std::nullopt;
  }
  std::optional<Error> refusal_of(const auth::Identity& identity) {
    return refusal_of(identity, key_);
  }

  // Whether what one has put reaches the other.
  static void expect_in_touch(Client& one, Client& other, const std::string& key) {
    one.put(key, "word");
    EXPECT_EQ(other.get(key, seconds(20)), "word");
  }

  // What comes to a client unasked, next.
  static Message notice_to(Client& client) {
    for (const auto end = soon(); Clock::now() < end;) {
      if (const auto notice = client.next_notice()) return *notice;
      ::usleep(1000);
    }
    ADD_FAILURE() << "no notice came";
    return {};
  }

  std::vector<os::Fd> silent_strangers(std::size_t count) {
    std::vector<os::Fd> strangers;
    const os::Address address = os::parse_address(address_);
    while (strangers.size() < count) strangers.push_back(os::start_connect(address).socket);
    return strangers;
  }

  const auth::Key key_ = auth::random_key();
  os::Listener listener_;
  std::string address_;
  std::unique_ptr<Host> host_;
  std::optional<Client> rank_0_;
};

TEST_F(HostTest, BringsRanksTogether) {
  start(3);
  Client rank_1 = joined(1);
  Client rank_2 = joined(2);
  expect_in_touch(*rank_0_, rank_2, "a");
  expect_in_touch(rank_2, rank_1, "b");
  expect_in_touch(rank_1, *rank_0_, "c");
}

// Method: all have called before it looks for the first time, and answer side by side.
TEST_F(HostTest, LetsAWholeWorldInThatCallsAtOnce) {
  constexpr std::uint32_t kWorldSize = 150;
  struct Caller {
    auth::Stream stream;
    auth::Handshake handshake;
  };
  listen();
  const auto strangers = silent_strangers(50);
  std::vector<Caller> callers;
  for (std::uint32_t rank = 1; rank < kWorldSize; ++rank) {
    callers.push_back({os::start_connect(os::parse_address(address_)).socket,
                       auth::Handshake::call(key_, identity_of(rank))});
  }
  start(kWorldSize);
  std::size_t done_count = 0;
  for (const auto end = soon(); done_count < callers.size() && Clock::now() < end;) {
    done_count = 0;
    for (Caller& caller : callers) {
      ASSERT_TRUE(auth::advance(caller.handshake, caller.stream));
      if (caller.handshake.state() == auth::Handshake::State::kDone) ++done_count;
    }
    ::usleep(1000);
  }
  ASSERT_EQ(done_count, callers.size());
  std::vector<Client> ranks;
  for (Caller& caller : callers) {
    ranks.emplace_back(
        std::make_unique<RemoteLine>(std::move(caller.stream), caller.handshake.session_keys()), 0);
    EXPECT_EQ(ranks.back().join(soon()).job.rank, ranks.size());
  }
  expect_in_touch(ranks.front(), ranks.back(), "key");
}

TEST_F(HostTest, HasRoomForMembersBesideMoreStrangersThanItKeeps) {
  start(3);
  Client rank_1 = joined(1);
  const auto strangers = silent_strangers(200);
  expect_in_touch(rank_1, *rank_0_, "before");
  Client rank_2 = joined(2);
  expect_in_touch(rank_2, rank_1, "after");
}

// Lets this process open so many descriptors more, and no others.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t count) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const os::Fd lowest(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(lowest.get()) + count;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

// Method: of five silent strangers, for whom there are sockets already, the host can take two.
TEST_F(HostTest, KeepsTheJobWhereStrangersLeaveNoDescriptors) {
  start(3);
  Client rank_1 = joined(1);
  std::vector<os::Fd> strangers;
  strangers.reserve(5);
  for (int i = 0; i < 5; ++i) strangers.emplace_back(::socket(AF_INET, SOCK_STREAM, 0));
  {
    const DescriptorLimit limit(2);
    const os::Address address = os::parse_address(address_);
    for (const os::Fd& stranger : strangers) {
      ASSERT_EQ(::connect(stranger.get(), address.get(), address.bytes()), 0);
    }
    for (int i = 0; i < 200; ++i) {
      expect_in_touch(rank_1, *rank_0_, std::to_string(i));
      ::usleep(1000);
    }
  }
  Client rank_2 = joined(2);
  expect_in_touch(rank_2, rank_1, "after");
}

TEST_F(HostTest, RefusesASecondCallOfARank) {
  start(3);
  Client rank_1 = joined(1);
  const auto refusal = refusal_of(identity_of(1));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code(), ErrorCode::kMismatch);
  EXPECT_THAT(refusal->what(), HasSubstr("that rank has joined already"));
  expect_in_touch(rank_1, *rank_0_, "key");
}

// Its connection broke between the two, and it has a deadline of its own.
TEST_F(HostTest, LetsARankCallAgainThatHasNotJoined) {
  start(2);
  { const Client gone = call(1); }
  Client rank_1 = joined(1);
  expect_in_touch(rank_1, *rank_0_, "key");
  EXPECT_FALSE(rank_0_->next_notice());
}

TEST_F(HostTest, TellsTheOthersHowARankWent) {
  start(3);
  std::optional<Client> rank_1(joined(1));
  std::optional<Client> rank_2(joined(2));
  rank_0_->report_waiting(2);
  rank_1->report_waiting(2);
  rank_2->leave();
  rank_2.reset();
  const Message left{.type = MessageType::kDeparted, .blamed = 2, .text = "left"};
  EXPECT_EQ(notice_to(*rank_0_), left);
  EXPECT_EQ(notice_to(*rank_1), left);
  rank_1.reset();
  EXPECT_EQ(notice_to(*rank_0_),
            (Message{.type = MessageType::kDeparted, .blamed = 1, .text = "ended"}));
  EXPECT_FALSE(rank_0_->next_notice());
}

TEST_F(HostTest, DoesNotLetARankBackIn) {
  start(2);
  { Client gone = joined(1); }
  EXPECT_EQ(notice_to(*rank_0_).blamed, 1U);
  const auto refusal = refusal_of(identity_of(1));
  ASSERT_TRUE(refusal);
  EXPECT_THAT(refusal->what(), HasSubstr("that rank has joined already"));
}

TEST_F(HostTest, HandsOnTheLastWordsOfRankZero) {
  start(2);
  Client rank_1 = joined(1);
  rank_0_->abort(ErrorCode::kBadData, 0, "the data is bad");
  host_.reset();
  EXPECT_EQ(notice_to(rank_1), (Message{.type = MessageType::kAborted,
                                        .error = ErrorCode::kBadData,
                                        .blamed = 0,
                                        .text = "the data is bad"}));
  EXPECT_EQ(notice_to(rank_1),
            (Message{.type = MessageType::kDeparted, .blamed = 0, .text = "ended"}));
}

TEST_F(HostTest, SaysToMembersOfWhatWhyItRefusesThem) {
  start(3);
  const auto expect_refused = [&](const auth::Identity& identity, const std::string& why) {
    const auto refusal = refusal_of(identity);
    ASSERT_TRUE(refusal) << why;
    EXPECT_EQ(refusal->code(), ErrorCode::kMismatch);
    EXPECT_THAT(refusal->what(), HasSubstr(why));
  };
  expect_refused(identity_of(0), "rank 0 is here");
  expect_refused(identity_of(3), "this job has 3 ranks");
  auth::Identity other = identity_of(1);
  other.epoch = kEpoch - 1;
  expect_refused(other, "this is epoch 4 of the job");
  other = identity_of(1);
  other.to = 2;
  expect_refused(other, "here ranks meet, and only that");
  other = identity_of(1);
  other.channel = auth::Channel::kData;
  expect_refused(other, "here ranks meet, and only that");
}

// Those who wait in vain are told; the stranger is not.
TEST_F(HostTest, TellsThoseWhoWaitWhatTheLastStrangerWas) {
  start(2);
  const auto wait_in_vain = [&] {
    try {
      rank_0_->barrier("start", milliseconds(100));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kTimeout);
      return std::string(error.what());
    }
    return std::string("it did not wait in vain");
  };
  EXPECT_THAT(wait_in_vain(), AllOf(HasSubstr("rank 1"), Not(HasSubstr("called"))));
  const auto refusal = refusal_of(identity_of(1), auth::random_key());
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code(), ErrorCode::kTimeout);
  EXPECT_THAT(wait_in_vain(), HasSubstr("the last who called in vain: it holds another key"));
}

// Nobody asks the host: one that holds the key is refused for it by the handshake.
TEST_F(HostTest, RefusesAHostThatLaysOutItsDataOtherwise) {
  start(2);
  const auth::DataFormat next{.frame_version = 2};
  auto handshake = auth::Handshake::call(key_, identity_of(1), next);
  auth::Stream stream = os::start_connect(os::parse_address(address_)).socket;
  for (const auto end = soon(); Clock::now() < end;) {
    if (!auth::advance(handshake, stream)) break;
    if (handshake.state() != auth::Handshake::State::kTalking) break;
    ::usleep(1000);
  }
  EXPECT_EQ(handshake.state(), auth::Handshake::State::kRefused);
  EXPECT_EQ(handshake.why(), "it speaks another version of data frames: version 1, ours 2");
  Client rank_1 = joined(1);
  expect_in_touch(rank_1, *rank_0_, "key");
}

}  // namespace
}  // namespace rota::rendezvous
