// Tests a rank's side of the rendezvous: the messages that it sends, and what a poll for the
// launcher's messages costs. Method: the test plays the launcher at the other end of a socket.
// operator new counts its calls.
#include "rendezvous/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "os/message_socket.h"

namespace {

std::atomic<long> allocation_count{0};

}  // namespace

// noinline: otherwise the compiler would see malloc and free where it knows new and delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocation_count;
  if (void* start = std::malloc(bytes)) return start;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* start) noexcept { std::free(start); }
[[gnu::noinline]] void operator delete(void* start, std::size_t) noexcept { std::free(start); }

namespace rota::rendezvous {
namespace {

class ClientTest : public ::testing::Test {
 protected:
  ClientTest() : ClientTest(os::make_message_socket_pair()) {}
  explicit ClientTest(std::pair<os::Fd, os::Fd> ends)
      : launcher_(std::move(ends.first)), client_(std::move(ends.second)) {}

  // Returns the client's next message, if any.
  std::optional<Message> heard() {
    std::vector<std::byte> bytes;
    std::vector<os::Fd> fds;
    if (os::receive_message(launcher_.get(), bytes, fds) != os::Io::kDone) return std::nullopt;
    return decode(bytes);
  }

  void say(const Message& message, std::span<const int> fds = {}) {
    os::send_message(launcher_.get(), encode(message), fds);
  }

  void welcome(const Job& job, const TableMark& mark, const os::Fd& table) {
    std::vector<int> fds;
    if (table) fds.push_back(table.get());
    say({.type = MessageType::kWelcome, .text = encode(job, mark)}, fds);
  }

  os::Fd launcher_;
  Client client_;
};

TEST_F(ClientTest, CutsALongReasonForAnAbort) {
  client_.abort(ErrorCode::kSystem, 1, std::string(100'000, 'x'));
  const auto message = heard();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->type, MessageType::kAbort);
  EXPECT_EQ(message->blamed, 1U);
  EXPECT_EQ(message->text, std::string(4096, 'x'));
}

TEST_F(ClientTest, CutsAReasonAtTheEndOfACharacter) {
  client_.abort(ErrorCode::kSystem, 1, std::string(4095, 'x') + "é");
  const auto message = heard();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->text, std::string(4095, 'x'));
}

TEST_F(ClientTest, SaysInWhatItWaits) {
  client_.report_waiting(2);
  EXPECT_EQ(heard(), (Message{.type = MessageType::kWaiting, .blamed = 2}));
  client_.report_waiting(2, "0#17", std::string(100'000, 'x'));
  EXPECT_EQ(heard(), (Message{.type = MessageType::kWaiting,
                              .blamed = 2,
                              .key = "0#17",
                              .text = std::string(4096, 'x')}));
}

TEST_F(ClientTest, RefusesAValueThatNoMessageHolds) {
  client_.put("key", std::string(60'000, 'x'));
  EXPECT_EQ(heard()->text.size(), 60'000U);
  try {
    client_.put("key", std::string(100'000, 'x'));
    FAIL() << "a value longer than a message was sent";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("65536"));
  }
  EXPECT_FALSE(heard());
}

// Method: reports fill the socket. The launcher reads it only when the rank already tries to leave.
TEST_F(ClientTest, BringsItsLastWordsToALauncherThatReadsLate) {
  for (int i = 0; i < 1000; ++i) client_.report_waiting(2, "0#17", std::string(4096, 'x'));
  std::vector<MessageType> last;
  std::thread launcher([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto end = base::Clock::now() + std::chrono::seconds(10);
    while (base::Clock::now() < end && (last.empty() || last.back() != MessageType::kLeave)) {
      const auto message = heard();
      if (!message) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (message && message->type != MessageType::kWaiting) last.push_back(message->type);
    }
  });
  client_.abort(ErrorCode::kBadData, 1, "the data is bad");
  client_.leave();
  launcher.join();
  EXPECT_THAT(last, ::testing::ElementsAre(MessageType::kAbort, MessageType::kLeave));
}

// While the socket is full, a rank reports its step, and goes on training. The report leaves by
// itself as soon as the launcher reads, and only the newest report about waiting is kept.
TEST_F(ClientTest, KeepsTheReportsThatTheSocketHasNoRoomFor) {
  for (int i = 0; i < 1000; ++i) client_.report_waiting(2, "0#17", std::string(4096, 'x'));
  client_.report_begun(7);
  client_.report_resumed();
  client_.report_trained(8);
  std::size_t waiting_count = 0;
  std::vector<Message> others;
  for (int i = 0; i < 2000; ++i) {
    EXPECT_FALSE(client_.next_notice());
    const auto message = heard();
    if (!message) continue;
    if (message->type != MessageType::kWaiting) others.push_back(*message);
    waiting_count += message->type == MessageType::kWaiting ? 1 : 0;
  }
  EXPECT_LT(waiting_count, 1000U);
  EXPECT_THAT(others, ::testing::ElementsAre(Message{.type = MessageType::kBegun, .step = 7},
                                             Message{.type = MessageType::kResumed},
                                             Message{.type = MessageType::kTrained, .step = 8}));
}

// A report that waits for room comes before the messages that the rank sends after it.
TEST_F(ClientTest, SendsItsReportsBeforeLaterMessages) {
  for (int i = 0; i < 1000; ++i) client_.report_waiting(2, "0#17", std::string(4096, 'x'));
  client_.report_begun(7);
  std::vector<MessageType> last;
  std::thread launcher([&] {
    const auto end = base::Clock::now() + std::chrono::seconds(10);
    while (base::Clock::now() < end && (last.empty() || last.back() != MessageType::kPut)) {
      const auto message = heard();
      if (!message) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (message && message->type != MessageType::kWaiting) last.push_back(message->type);
    }
  });
  client_.put("key", "value");
  launcher.join();
  EXPECT_THAT(last, ::testing::ElementsAre(MessageType::kBegun, MessageType::kPut));
}

// A waiting rank polls every millisecond.
TEST_F(ClientTest, LooksForNewsWithoutAllocating) {
  client_.next_notice();
  const long before = allocation_count;
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(client_.next_notice());
  EXPECT_EQ(allocation_count, before);
}

TEST_F(ClientTest, HandsOnWhyTheJobBroke) {
  const Message aborted{
      .type = MessageType::kAborted, .error = ErrorCode::kMismatch, .blamed = 3, .text = "why"};
  say(aborted);
  EXPECT_EQ(client_.next_notice(), aborted);
}

// A launcher that ends has often said why. A request comes too late for it, and must not hide that.
TEST_F(ClientTest, SaysWhyTheJobBrokeAlsoIfTheLauncherIsGoneSince) {
  say({.type = MessageType::kAborted, .error = ErrorCode::kBadData, .blamed = 3, .text = "why"});
  launcher_.reset();
  client_.put("key", "value");
  try {
    client_.get("key", std::chrono::seconds(10));
    FAIL() << "a launcher that is gone has answered";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kAborted);
    EXPECT_STREQ(error.what(), "why");
    EXPECT_EQ(error.blamed_rank(), 3U);
  }
  try {
    client_.get("key", std::chrono::seconds(10));
    FAIL() << "a launcher that is gone has answered";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kSystem);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("the launcher is gone"));
  }
}

TEST_F(ClientTest, HearsWhyTheJobBrokeWhenItBeginsToTrain) {
  const Message aborted{.type = MessageType::kAborted, .error = ErrorCode::kBadData, .text = "why"};
  say(aborted);
  launcher_.reset();
  EXPECT_TRUE(client_.ask_to_train(std::chrono::seconds(10)));
  EXPECT_EQ(client_.next_notice(), aborted);
  EXPECT_THROW(client_.next_notice(), Error);
}

Job small_job() {
  Job job;
  job.table.transport = "one of the future";
  job.table.rows.resize(1);
  return job;
}

std::string table_of(const Job& job) { return encode_table(job.table, job.domains); }

base::TimePoint in_time() { return base::Clock::now() + std::chrono::seconds(10); }

// The client does not wait for descriptors that nobody sends. The code that knows the transport
// fails later.
TEST_F(ClientTest, TakesAWelcomeWithNothingButATable) {
  const std::string table = table_of(small_job());
  welcome(small_job(), mark_of(table), make_table_file(table));
  const auto welcome = client_.join(in_time());
  EXPECT_EQ(welcome.job.table.transport, "one of the future");
  EXPECT_TRUE(welcome.fds.empty());
}

TEST_F(ClientTest, RefusesAnotherTableThanItWasTold) {
  const std::string table = table_of(small_job());
  welcome(small_job(), mark_of(table + "x"), make_table_file(table));
  EXPECT_THROW(client_.join(in_time()), Error);
}

TEST_F(ClientTest, RefusesAWelcomeWithoutATable) {
  welcome(small_job(), mark_of(table_of(small_job())), {});
  EXPECT_THROW(client_.join(in_time()), Error);
}

TEST_F(ClientTest, RefusesATableWithoutARowForIt) {
  Job job = small_job();
  job.rank = 1;
  const std::string table = table_of(job);
  welcome(job, mark_of(table), make_table_file(table));
  EXPECT_THROW(client_.join(in_time()), Error);
}

// A rank started by hand says which table it has. It uses that table, or another table if one
// arrives.
TEST_F(ClientTest, TakesItsOwnTableOrTheOneThatComes) {
  Job job = small_job();
  job.hands_descriptors = false;
  const std::string table = table_of(job);
  welcome(job, mark_of(table), {});
  EXPECT_EQ(client_.join(in_time(), table).job.table.transport, "one of the future");
  EXPECT_EQ(heard(), (Message{.type = MessageType::kJoin, .text = encode(mark_of(table))}));
  welcome(job, mark_of(table), {});
  for (const std::size_t at : {std::size_t{0}, table.size() / 2}) {
    say({.type = MessageType::kWelcome,
         .text = table.substr(at, at == 0 ? table.size() / 2 : table.size())});
  }
  EXPECT_EQ(client_.join(in_time(), "another").job.table.transport, "one of the future");
}

}  // namespace
}  // namespace rota::rendezvous
