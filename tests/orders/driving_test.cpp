// One thread at a time drives a communicator. The next one that drives finds what the last one has
// left, and a thread that sees the end of the communicator also sees its cause.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include <rota/communicator.h>
#include <rota/error.h>
#include <rota/request.h>

#include "communicator/impl.h"
#include "communicator/silent_transport.h"
#include "communicator/toy_method.h"
#include "orders/weakening.h"

namespace rota::orders {
namespace {

using testing::ToyManner;

// A communicator with one request, which ends in the first turn unless it is held. The method takes
// one thread, so no progress thread is started. All threads of an exploration are one real thread.
struct Pending {
  explicit Pending(bool is_held) : is_held_(is_held) {
    request = comm.all_reduce_async(values, ReduceOp::kSum);
    manner.is_held = is_held_;
  }

  ToyManner manner{.is_held = true, .one_thread = "the library toy"};
  std::array<float, 1> values{};
  Communicator comm = make(manner);
  Request request{};

 private:
  static Communicator make(ToyManner& manner) {
    Group group =
        testing::group_over(std::make_unique<testing::SilentTransport>(), std::chrono::seconds(20));
    group.methods.push_back(std::make_unique<testing::Toys>(manner));
    return CommunicatorImpl::communicator(
        std::make_shared<CommunicatorImpl>(std::move(group), Settings({.plan = "star"})));
  }

  bool is_held_;
};

void two_threads_drive() {
  Pending pending(false);
  const auto driver = [&] {
    return std::thread(
        [own = pending.request]() mutable { wait_until([&] { return own.test(); }); });
  };
  std::thread first = driver();
  std::thread second = driver();
  first.join();
  second.join();
}

void one_thread_gives_up() {
  Pending pending(true);
  std::thread waiter([own = pending.request]() mutable {
    wait_until([&] { return own.test(); });
    try {
      own.wait();
      expect(false, "the request has failed");
    } catch (const Error& error) {
      expect(error.code() == ErrorCode::kAborted, "the error is the cause");
    }
  });
  std::thread aborter([&] { pending.comm.abort("enough"); });
  waiter.join();
  aborter.join();
}

TEST(Driving, NeedsItsOrders) {
  Pending(false).request.wait();  // Makes what is made once in a program.
  Pending(true).comm.abort("enough");
  expect_needed_orders({"lib/communicator/impl.h"}, {{"two threads drive", two_threads_drive},
                                                     {"one thread gives up", one_thread_gives_up}});
}

}  // namespace
}  // namespace rota::orders
