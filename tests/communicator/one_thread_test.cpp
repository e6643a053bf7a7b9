// A transport that takes one thread: what others call is refused, and nothing moves but while that
// thread waits. Method: a toy transport over which nothing ever comes.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <rota/error.h>

#include "communicator/impl.h"
#include "transport/fabric.h"

namespace rota {
namespace {

class DumbChannel final : public transport::Channel {
 public:
  void start_send(const transport::Header&, std::span<const std::byte>) override {}
  transport::Progress progress_send() override { return transport::Progress::kNone; }
  const transport::Header* incoming() override {
    looks_from = std::this_thread::get_id();
    return nullptr;
  }
  std::span<const std::byte> peek() override { return {}; }
  void release(std::size_t) override {}
  std::size_t receive(std::span<std::byte>) override { return 0; }
  void finish_receive() override {}

  std::thread::id looks_from;
};

class OneThreadTransport final : public transport::Transport {
 public:
  explicit OneThreadTransport(DumbChannel& channel) : channel_(channel) {}

  std::string_view name() const noexcept override { return "toy"; }
  transport::Manner manner() const noexcept override { return {.one_thread = true}; }
  transport::Channel& channel(std::size_t) noexcept override { return channel_; }
  void rest(base::Duration) override {}
  void wake() noexcept override {}
  bool ends_by_itself(std::size_t) const noexcept override { return false; }
  Block allocate(std::size_t) override { return {}; }
  std::uint64_t sent_bytes() const noexcept override { return 0; }
  std::uint64_t staged_bytes() const noexcept override { return 0; }
  void abort(const transport::Cause&) noexcept override {}
  bool broken() const noexcept override { return false; }
  std::optional<transport::Cause> aborted() override { return std::nullopt; }

 private:
  DumbChannel& channel_;
};

class OneThreadTest : public ::testing::Test {
 protected:
  OneThreadTest() {
    Group group;
    group.table.rows.resize(2);
    group.members = {0, 1};
    group.deadline = std::chrono::milliseconds(50);
    group.transport = std::make_unique<OneThreadTransport>(channel_);
    group.table.transport = group.transport->name();
    impl_ = std::make_shared<CommunicatorImpl>(std::move(group), Settings(CommunicatorOptions()));
  }

  Communicator communicator() { return CommunicatorImpl::communicator(impl_); }

  template <class F>
  static void expect_refused_elsewhere(F call) {
    std::thread([&] {
      try {
        call();
        FAIL() << "another thread was let in";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
        EXPECT_NE(std::string(error.what()).find("toy takes one thread"), std::string::npos)
            << error.what();
      }
    }).join();
  }

  DumbChannel channel_;
  std::shared_ptr<CommunicatorImpl> impl_;
  std::vector<float> values_ = std::vector<float>(8);
};

TEST_F(OneThreadTest, RefusesCallsFromAnotherThread) {
  Communicator comm = communicator();
  expect_refused_elsewhere([&] { comm.all_reduce(values_, ReduceOp::kSum); });
  expect_refused_elsewhere([&] { (void)comm.all_reduce_async(values_, ReduceOp::kSum); });
  Request request = comm.all_reduce_async(values_, ReduceOp::kSum);
  expect_refused_elsewhere([&] { request.wait(); });
  expect_refused_elsewhere([&] { (void)request.test(); });
  EXPECT_THROW(request.wait(), Error) << "nobody else is there";
}

TEST_F(OneThreadTest, MovesNothingWhileNobodyWaits) {
  Communicator comm = communicator();
  Request request = comm.all_reduce_async(values_, ReduceOp::kSum);
  channel_.looks_from = {};
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(channel_.looks_from, std::thread::id()) << "a thread of its own drives";
  EXPECT_FALSE(request.test());
  EXPECT_EQ(channel_.looks_from, std::this_thread::get_id());
  EXPECT_THROW(request.wait(), Error);
}

TEST_F(OneThreadTest, HasNoFurtherGroupsWhereItsTransportFoundsNone) {
  OneThreadTransport transport(channel_);
  try {
    (void)transport.found({});
    FAIL() << "founded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("no further groups"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace rota
