// Tests a coordinator in rank 0's own process: members are let in, and other callers do not disturb
// them. Method: real sockets on loopback. The test plays the other ranks as clients, and strangers
// as bare sockets.
#include "rendezvous/coordinator_thread.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "auth/handshake_io.h"
#include "os/listener.h"
#include "os/poll_set.h"
#include "os/tcp_socket.h"
#include "rendezvous/client.h"
#include "rendezvous/remote_connection.h"

namespace rota::rendezvous {
namespace {

using base::Clock;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kEpoch = 4;
constexpr milliseconds kPatience(300);

base::TimePoint soon() { return Clock::now() + seconds(20); }

class HostTest : public ::testing::Test {
 protected:
  void listen() {
    listener_ = os::listen_on_loopback();
    address_ = listener_.address;
  }

  // Starts the coordinator thread. Rank 0 joins immediately.
  void start(std::size_t world_size) {
    if (!listener_.socket) listen();
    Job job;
    job.table.transport = "tcp";
    job.table.rows.resize(world_size);
    job.table.epoch = kEpoch;
    job.hands_descriptors = false;
    host_ = std::make_unique<CoordinatorThread>(job, key_, std::move(listener_.socket));
    rank_0_.emplace(host_->take_connection(), 0);
    EXPECT_EQ(rank_0_->join(soon()).job.rank, 0U);
  }

  static auth::Identity identity_of(std::uint32_t rank) {
    return {.kind = auth::ConnectionKind::kControl, .epoch = kEpoch, .from = rank, .to = 0};
  }

  // Returns a rank that has connected but has not joined.
  Client call(std::uint32_t rank) {
    return {call_coordinator({address_}, key_, identity_of(rank), soon()), 0};
  }

  Client joined(std::uint32_t rank) {
    Client client = call(rank);
    EXPECT_EQ(client.join(soon()).job.rank, rank);
    return client;
  }

  // Returns the error of a connection that fails.
  std::optional<Error> refusal_of(const auth::Identity& identity, const auth::Credentials& own,
                                  milliseconds patience) {
    try {
      call_coordinator({address_}, own, identity, Clock::now() + patience);
    } catch (const Error& error) {
      return error;
    }
    return std::nullopt;
  }

  // Calls with more and more patience until there is an answer, which may come late on a busy
  // machine.
  std::optional<Error> answer_to(const auth::Identity& identity, const auth::Credentials& own) {
    std::optional<Error> refusal;
    for (milliseconds patience = kPatience; patience < seconds(60); patience *= 4) {
      refusal = refusal_of(identity, own, patience);
      if (!refusal || refusal->code() != ErrorCode::kTimeout) break;
    }
    return refusal;
  }

  // Expects that a value put by `one` reaches `other`.
  static void expect_in_touch(Client& one, Client& other, const std::string& key) {
    one.put(key, "word");
    EXPECT_EQ(other.get(key, seconds(20)), "word");
  }

  // Returns the next notice that the client receives.
  static Message notice_to(Client& client) {
    for (const auto end = soon(); Clock::now() < end;) {
      if (const auto notice = client.next_notice()) return *notice;
      ::usleep(1000);
    }
    ADD_FAILURE() << "the client got no notice in time";
    return {};
  }

  // Returns the connection of a joined rank 1 that has asked for more answers than the system's
  // buffers hold, and has read none of them. The coordinator has handled all requests.
  std::unique_ptr<Connection> call_and_fill() {
    auto line = call_coordinator({address_}, key_, identity_of(1), soon());
    const auto send = [&](const Message& message) {
      EXPECT_EQ(line->send(encode(message), {}), os::Io::kDone);
    };
    send({.type = MessageType::kJoin});
    send({.type = MessageType::kPut, .key = "much", .text = std::string(60'000, 'x')});
    for (std::uint32_t id = 1; id <= 200; ++id) {
      send({.type = MessageType::kGet, .id = id, .timeout = seconds(20), .key = "much"});
    }
    send({.type = MessageType::kPut, .key = "asked", .text = "yes"});
    EXPECT_FALSE(line->is_sending());
    EXPECT_EQ(rank_0_->get("asked", seconds(20)), "yes");
    return line;
  }

  // Reads until the connection ends, and returns the last message.
  static std::optional<Message> last_message_of(Connection& line) {
    std::optional<Message> last;
    std::vector<std::byte> bytes;
    std::vector<os::Fd> fds;
    for (const auto end = soon(); Clock::now() < end;) {
      const os::Io io = line.receive(bytes, fds);
      if (io == os::Io::kClosed) break;
      if (io == os::Io::kDone) last = decode(bytes);
      if (io == os::Io::kWouldBlock) ::usleep(100);
    }
    return last;
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
  std::unique_ptr<CoordinatorThread> host_;
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

// Method: all ranks have called before the coordinator looks for the first time. The ranks then
// answer at the same time.
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
    ranks.emplace_back(std::make_unique<RemoteConnection>(std::move(caller.stream),
                                                          caller.handshake.session_keys()),
                       0);
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

// Lets this process open at most `count` more descriptors.
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

// Method: five strangers that send nothing connect, with sockets that were made before the limit.
// The coordinator has descriptors for two of them.
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
  const auto refusal = answer_to(identity_of(1), key_);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code(), ErrorCode::kMismatch);
  EXPECT_THAT(refusal->what(), HasSubstr("that rank has joined already"));
  expect_in_touch(rank_1, *rank_0_, "key");
}

// The rank's connection broke after the call and before the join. The others are not told, because
// the rank's own deadline limits its attempts.
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
  const auto refusal = answer_to(identity_of(1), key_);
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

// The reader begins late, but well within the second that the coordinator waits.
TEST_F(HostTest, HandsOnTheLastWordsOfRankZeroToARankThatReadsLate) {
  start(2);
  const auto rank_1 = call_and_fill();
  std::optional<Message> last;
  std::thread reader([&] {
    std::this_thread::sleep_for(milliseconds(50));
    last = last_message_of(*rank_1);
  });
  rank_0_->abort(ErrorCode::kBadData, 0, "the data is bad");
  host_.reset();
  reader.join();
  EXPECT_EQ(last, (Message{.type = MessageType::kAborted,
                           .error = ErrorCode::kBadData,
                           .blamed = 0,
                           .text = "the data is bad"}));
}

TEST_F(HostTest, EndsAlsoIfARankNeverReads) {
  start(2);
  const auto rank_1 = call_and_fill();
  rank_0_->abort(ErrorCode::kBadData, 0, "the data is bad");
  const auto before = Clock::now();
  host_.reset();
  EXPECT_LT(Clock::now() - before, seconds(10));
}

TEST_F(HostTest, SaysToMembersOfWhatWhyItRefusesThem) {
  start(3);
  const auto expect_refused = [&](const auth::Identity& identity, const std::string& why) {
    const auto refusal = answer_to(identity, key_);
    ASSERT_TRUE(refusal) << why;
    EXPECT_EQ(refusal->code(), ErrorCode::kMismatch);
    EXPECT_THAT(refusal->what(), HasSubstr(why));
  };
  expect_refused(identity_of(0), "this is rank 0 itself");
  expect_refused(identity_of(3), "this job has 3 ranks");
  auth::Identity other = identity_of(1);
  other.epoch = kEpoch - 1;
  expect_refused(other, "this is epoch 4 of the job");
  other = identity_of(1);
  other.to = 2;
  expect_refused(other, "this is the rendezvous of the ranks, and accepts nothing else");
  other = identity_of(1);
  other.kind = auth::ConnectionKind::kData;
  expect_refused(other, "this is the rendezvous of the ranks, and accepts nothing else");
}

// A system such as Kubernetes may start the ranks of a larger job, or of a job that encrypts, while
// the job before it still ends.
TEST_F(HostTest, LetsRanksOfTheNextJobWait) {
  start(2);
  const Client member = joined(1);
  const auth::Credentials plain(key_, false);
  const auth::Credentials encrypting(key_, true);
  for (const auto& [own, rank, why] :
       {std::tuple(&plain, 2U, "not now: this job has 2 ranks; this job has begun"),
        std::tuple(&encrypting, 1U, "it does not encrypt, and this side does")}) {
    const base::TimePoint begin = Clock::now();
    const auto refusal = answer_to(identity_of(rank), *own);
    ASSERT_TRUE(refusal) << why;
    EXPECT_GE(Clock::now() - begin, kPatience) << refusal->what();
    EXPECT_EQ(refusal->code(), ErrorCode::kMismatch);
    EXPECT_THAT(refusal->what(), HasSubstr(why));
  }
}

// A rank whose wait times out is told about the stranger. The stranger is told nothing.
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
  const auto refusal = refusal_of(identity_of(1), auth::random_key(), kPatience);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code(), ErrorCode::kTimeout);
  EXPECT_THAT(wait_in_vain(), HasSubstr("the last refused connection: it holds another key"));
}

// The handshake refuses this key holder because of its data format, without asking the coordinator.
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
  EXPECT_EQ(handshake.why(), "it uses another version of data frames: its version is 1, ours is 2");
  Client rank_1 = joined(1);
  expect_in_touch(rank_1, *rank_0_, "key");
}

}  // namespace
}  // namespace rota::rendezvous
