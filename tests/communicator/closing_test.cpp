// A rank that closes its communicator ends the waits of threads that wait for its requests.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "communicator/giving_up.h"
#include "communicator/impl.h"
#include "communicator/joined.h"
#include "communicator/silent_transport.h"
#include "testing/error_of.h"

namespace rota {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::error_of;
using testing::world_in_memory;

// A thread other than the communicator's may wait for a request.
TEST(Closing, EndsTheWaitOfAnotherThread) {
  for (int round = 0; round < 100; ++round) {
    auto world = world_in_memory(2, seconds(20));
    std::vector<float> values(10);
    Request request = world[0].receive_async(values, 1);
    std::atomic<bool> waits{false};
    std::thread waiter([&] {
      waits = true;
      const auto error = error_of([&] { request.wait(); });
      EXPECT_TRUE(error && error->code() == ErrorCode::kClosed);
    });
    while (!waits) std::this_thread::yield();
    for (int spin = 0; spin < round * 1000; ++spin)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    { const Communicator closed = std::move(world[0]); }
    waiter.join();
  }
}

// The state of the sleeping thread, and what the transport's destructor saw.
struct Rest {
  std::atomic<bool> has_begun{false};
  std::atomic<bool> is_woken{false};
  std::atomic<bool> has_ended{false};
  std::atomic<bool> had_ended{false};  // When the transport was destroyed.
};

// A sleep lasts until the thread is woken, and then 100 ms more. If the communicator did not wait
// for the end of the sleep, it would destroy this transport earlier.
class RestingTransport final : public testing::SilentTransport {
 public:
  explicit RestingTransport(Rest& rest) : rest_(rest) {}
  ~RestingTransport() override {
    rest_.had_ended = rest_.has_ended.load();
    rest_.is_woken = true;
  }

  transport::WaitTraits wait_traits() const noexcept override { return {.cannot_wake = true}; }
  void sleep(base::Duration) override {
    Rest& rest = rest_;  // This reference outlives the transport.
    rest.has_begun = true;
    while (!rest.is_woken) std::this_thread::yield();
    std::this_thread::sleep_for(milliseconds(100));
    rest.has_ended = true;
  }
  void wake() noexcept override { rest_.is_woken = true; }

 private:
  Rest& rest_;
};

TEST(Closing, LeavesTheTransportToAThreadThatRestsOnIt) {
  Rest rest;
  auto impl = std::make_shared<CommunicatorImpl>(
      testing::group_over(std::make_unique<RestingTransport>(rest), seconds(20)),
      Settings(CommunicatorOptions()));
  Communicator comm = CommunicatorImpl::communicator(std::move(impl));
  std::vector<float> values(10);
  Request request = comm.receive_async(values, 1);
  std::thread waiter([&] {
    const auto error = error_of([&] { request.wait(); });
    EXPECT_TRUE(error && error->code() == ErrorCode::kClosed);
  });
  while (!rest.has_begun) std::this_thread::yield();
  { const Communicator closed = std::move(comm); }
  EXPECT_TRUE(rest.had_ended);
  waiter.join();
}

// Several communicators share the flag of the driving thread. Notes which thread calls wake().
class SharingTransport final : public testing::SilentTransport {
 public:
  SharingTransport(std::atomic_flag& driving, std::atomic<std::thread::id>& waker)
      : driving_(driving), waker_(waker) {}

  transport::WaitTraits wait_traits() const noexcept override { return {.driving = &driving_}; }
  void wake() noexcept override { waker_ = std::this_thread::get_id(); }

 private:
  std::atomic_flag& driving_;
  std::atomic<std::thread::id>& waker_;
};

// The communicator is broken, so it may be closing, and its transport may be going. Method: the
// test drives, as another late thread would. Meanwhile, a thread tries to make a change.
TEST(Closing, IsNotDisturbedByAThreadThatComesLate) {
  std::atomic_flag driving;
  std::atomic<std::thread::id> waker{};
  const auto impl = std::make_shared<CommunicatorImpl>(
      testing::group_over(std::make_unique<SharingTransport>(driving, waker), seconds(20)),
      Settings(CommunicatorOptions()));
  impl->abort("enough");
  ASSERT_FALSE(driving.test_and_set());
  std::atomic<bool> is_late{false};
  std::thread late([&] {
    is_late = true;
    impl->abort("more than enough");
  });
  const std::thread::id late_id = late.get_id();
  while (!is_late) std::this_thread::yield();
  std::this_thread::sleep_for(milliseconds(50));
  driving.clear();
  late.join();
  EXPECT_NE(waker.load(), late_id);
}

// Another thread looks for the communicator of the job while it is being closed. ThreadSanitizer
// finds a look at what close() changes.
TEST(Closing, EndsWhileAnotherThreadLooksForTheCommunicatorOfTheJob) {
  CommunicatorOptions options;
  options.rendezvous_fd = 1'000'000;  // Only names the job: no such descriptor exists.
  for (int round = 0; round < 20; ++round) {
    Group group = testing::group_over(std::make_unique<testing::SilentTransport>(), seconds(20));
    group.membership = std::make_shared<Membership>(0, 2);
    const auto impl = std::make_shared<CommunicatorImpl>(std::move(group), Settings(options));
    note_joined(options, impl);
    EXPECT_EQ(find_joined(options), impl);
    std::thread looker([&] {
      while (find_joined(options)) std::this_thread::yield();
    });
    impl->close();
    looker.join();
    EXPECT_EQ(find_joined(options), nullptr) << "it is closed, although it is still alive";
  }
}

}  // namespace
}  // namespace rota
