// Checks that a barrier waits, without timing: each rank sets marks that all ranks see, and looks
// at the marks of all ranks when it leaves the barrier.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

#include <rota/communicator.h>

namespace rota::testing {

// One mark per rank, in memory that all ranks share: the last step that the rank has reached. Steps
// start at 0 and only grow.
using Mark = std::atomic<std::uint64_t>;
static_assert(Mark::is_always_lock_free);

class BarrierCheck {
 public:
  BarrierCheck(Communicator& communicator, std::span<Mark> marks)
      : comm_(communicator), marks_(marks), rank_(communicator.rank()) {}

  // Each rank is the late rank twice: for a blocking barrier and for a request.
  void run() {
    for (std::size_t late = 0; late < marks_.size(); ++late) {
      check_blocking(late);
      check_request(late);
    }
  }

 private:
  // The late rank enters after it has seen that all others are about to wait. If the barrier did
  // not wait, the others would leave it now, while the late rank looks at their marks.
  void check_blocking(std::size_t late) {
    const std::uint64_t entered = ++step_;
    const std::uint64_t left = ++step_;
    if (rank_ == late) {
      await_others(entered);
      for (int look = 0; look < kLooks; ++look) {
        expect_none_has(left);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }
    set(entered);
    comm_.barrier();
    expect_all_have(entered, "barrier");
    set(left);
    await_others(left);
  }

  // The late rank enters when every other rank has tested its request several times and found it
  // not done.
  void check_request(std::size_t late) {
    const std::uint64_t looked = ++step_;
    const std::uint64_t left = ++step_;
    if (rank_ == late) {
      await_others(looked);
      set(looked);
    }
    Request request = comm_.barrier_async();
    for (int look = 0; look < kLooks && rank_ != late; ++look) {
      EXPECT_FALSE(request.test()) << "rank " << rank_ << " did not wait for rank " << late;
      std::this_thread::sleep_for(std::chrono::microseconds(100));  // The message may use a socket.
    }
    if (rank_ != late) set(looked);
    request.wait();
    expect_all_have(looked, "barrier_async");
    set(left);
    await_others(left);
  }

  void set(std::uint64_t step) { marks_[rank_].store(step, std::memory_order_release); }

  bool has(std::size_t rank, std::uint64_t step) const {
    return marks_[rank].load(std::memory_order_acquire) >= step;
  }

  void expect_all_have(std::uint64_t step, const char* what) const {
    for (std::size_t rank = 0; rank < marks_.size(); ++rank) {
      EXPECT_TRUE(has(rank, step)) << "rank " << rank_ << " left a " << what << " before rank "
                                   << rank << " of " << marks_.size() << " had entered it";
    }
  }
  void expect_none_has(std::uint64_t step) const {
    for (std::size_t rank = 0; rank < marks_.size(); ++rank) {
      EXPECT_FALSE(has(rank, step)) << "rank " << rank << " has left a barrier that rank " << rank_
                                    << " of " << marks_.size() << " has not entered";
    }
  }

  // The time limit ends the wait for a rank that has failed.
  void await_others(std::uint64_t step) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (std::size_t rank = 0; rank < marks_.size(); ++rank) {
      while (rank != rank_ && !has(rank, step)) {
        ASSERT_LT(std::chrono::steady_clock::now(), end) << "rank " << rank << " does not come";
        std::this_thread::yield();
      }
    }
  }

  static constexpr int kLooks = 20;

  Communicator& comm_;
  std::span<Mark> marks_;
  std::size_t rank_;
  std::uint64_t step_ = 0;
};

}  // namespace rota::testing
