// A transport that only one thread may use: calls from other threads are refused, and data moves
// only while that thread waits.
// Method: a toy transport over which nothing arrives.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <rota/error.h>

#include "communicator/impl.h"
#include "communicator/one_thread.h"
#include "communicator/silent_transport.h"
#include "transport/fabric.h"

namespace rota {
namespace {

class WatchedChannel final : public testing::SilentChannel {
 public:
  const transport::Header* incoming() override {
    looks_from = std::this_thread::get_id();
    return nullptr;
  }

  std::thread::id looks_from;
};

class OneThreadTransport final : public testing::SilentTransport {
 public:
  explicit OneThreadTransport(WatchedChannel& channel) : channel_(channel) {}

  transport::WaitTraits wait_traits() const noexcept override { return {.one_thread = true}; }
  transport::Channel& channel(std::size_t) noexcept override { return channel_; }

 private:
  WatchedChannel& channel_;
};

class OneThreadTest : public ::testing::Test {
 protected:
  OneThreadTest() {
    impl_ = std::make_shared<CommunicatorImpl>(
        testing::group_over(std::make_unique<OneThreadTransport>(channel_),
                            std::chrono::milliseconds(50)),
        Settings(CommunicatorOptions()));
  }

  Communicator communicator() { return CommunicatorImpl::communicator(impl_); }

  template <class Call>
  static void expect_refused_elsewhere(Call call) {
    testing::expect_refused_elsewhere("the transport toy", call);
  }

  WatchedChannel channel_;
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
  EXPECT_THROW(request.wait(), Error) << "nothing arrives, so the wait times out";
}

TEST_F(OneThreadTest, MovesNothingWhileNobodyWaits) {
  Communicator comm = communicator();
  Request request = comm.all_reduce_async(values_, ReduceOp::kSum);
  channel_.looks_from = {};
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(channel_.looks_from, std::thread::id()) << "another thread drives";
  EXPECT_FALSE(request.test());
  EXPECT_EQ(channel_.looks_from, std::this_thread::get_id());
  EXPECT_THROW(request.wait(), Error);
}

TEST_F(OneThreadTest, HasNoFurtherGroupsWhereItsTransportFoundsNone) {
  OneThreadTransport transport(channel_);
  try {
    (void)transport.group_fabric({});
    FAIL() << "the transport made a fabric";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("no further groups"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace rota
