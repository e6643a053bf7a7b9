// An all-reduce whose plan is cached takes no lock to move its values. A waiting rank locks only to
// check for job events, once a millisecond.
// Method: this program replaces the C library's locks and counts the calls. It also replaces the
// clock and stops it: no millisecond passes, so each rank checks for job events at most once,
// however slow the machine is. Ranks are threads, over shared memory and over TCP. With more ranks
// than cores no rank spins, so a wait polls all the time.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "communicator/thread_world.h"
#include "testing/mixed_world.h"
#include "testing/on_every_rank.h"
#include "testing/tcp_world.h"

namespace {

std::atomic<long> lock_calls{0};

template <class... Arguments>
int count_and_call(const char* name, Arguments... arguments) {
  ++lock_calls;
  using Function = int (*)(Arguments...);
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name))(arguments...);
}

// The time in nanoseconds that the stopped monotonic clock shows; 0: the clock runs.
std::atomic<std::int64_t> stopped_at{0};

void stop_clock() {
  stopped_at =
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}
void start_clock() { stopped_at = 0; }

}  // namespace

// Sanitizers replace these functions themselves, or take locks of their own.
#if !defined(ROTA_IS_SANITIZED)
// The headers have already declared the C library's names. So the functions here have other names
// in C++, and the library's names for the linker.
extern "C" {
int counted_mutex_lock(pthread_mutex_t* mutex) noexcept __asm__("pthread_mutex_lock");
int counted_mutex_trylock(pthread_mutex_t* mutex) noexcept __asm__("pthread_mutex_trylock");
int counted_rwlock_rdlock(pthread_rwlock_t* lock) noexcept __asm__("pthread_rwlock_rdlock");
int counted_rwlock_wrlock(pthread_rwlock_t* lock) noexcept __asm__("pthread_rwlock_wrlock");
int counted_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept __asm__("pthread_rwlock_tryrdlock");
int counted_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept __asm__("pthread_rwlock_trywrlock");
int counted_spin_lock(pthread_spinlock_t* lock) noexcept __asm__("pthread_spin_lock");
int counted_cond_signal(pthread_cond_t* condition) noexcept __asm__("pthread_cond_signal");
int counted_cond_broadcast(pthread_cond_t* condition) noexcept __asm__("pthread_cond_broadcast");
int counted_cond_wait(pthread_cond_t* condition,
                      pthread_mutex_t* mutex) __asm__("pthread_cond_wait");
int counted_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* time) __asm__("pthread_cond_timedwait");
int counted_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* time) __asm__("pthread_cond_clockwait");
int stoppable_clock_gettime(clockid_t clock, timespec* time) noexcept __asm__("clock_gettime");

int counted_mutex_lock(pthread_mutex_t* mutex) noexcept {
  return count_and_call("pthread_mutex_lock", mutex);
}
int counted_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  return count_and_call("pthread_mutex_trylock", mutex);
}
int counted_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  return count_and_call("pthread_rwlock_rdlock", lock);
}
int counted_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  return count_and_call("pthread_rwlock_wrlock", lock);
}
int counted_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  return count_and_call("pthread_rwlock_tryrdlock", lock);
}
int counted_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  return count_and_call("pthread_rwlock_trywrlock", lock);
}
int counted_spin_lock(pthread_spinlock_t* lock) noexcept {
  return count_and_call("pthread_spin_lock", lock);
}
int counted_cond_signal(pthread_cond_t* condition) noexcept {
  return count_and_call("pthread_cond_signal", condition);
}
int counted_cond_broadcast(pthread_cond_t* condition) noexcept {
  return count_and_call("pthread_cond_broadcast", condition);
}
int counted_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return count_and_call("pthread_cond_wait", condition, mutex);
}
int counted_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* time) {
  return count_and_call("pthread_cond_timedwait", condition, mutex, time);
}
int counted_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* time) {
  return count_and_call("pthread_cond_clockwait", condition, mutex, clock, time);
}
int stoppable_clock_gettime(clockid_t clock, timespec* time) noexcept {
  constexpr std::int64_t kSecond = 1'000'000'000;
  using Function = int (*)(clockid_t, timespec*);
  static const auto kReal = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "clock_gettime"));
  const std::int64_t shown = stopped_at;
  if (clock != CLOCK_MONOTONIC || shown == 0) return kReal(clock, time);
  *time = {.tv_sec = shown / kSecond, .tv_nsec = shown % kSecond};
  return 0;
}
}  // extern "C"
constexpr bool kCounts = true;
#else
constexpr bool kCounts = false;
#endif

namespace rota {
namespace {

class LockTest : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {
 protected:
  void SetUp() override {
    if (!kCounts) GTEST_SKIP() << "a sanitizer has locks of its own";
  }

  static std::vector<Communicator> make_world() {
    const auto& [transport, world_size] = GetParam();
    CommunicatorOptions options;
    options.deadline = std::chrono::seconds(20);
    if (transport == "tcp") return testing::tcp_world_of(world_size, options);
    if (transport == "mixed") return testing::mixed_world_of(world_size, options);
    return ThreadWorld::make({.world_size = world_size, .communicator = options});
  }

  // Calls `round` on every rank a few times to warm up, and then many times. Expects that no rank
  // takes a lock in the many calls.
  template <class Round>
  static void expect_no_locks(Round round) {
    constexpr int kRounds = 500;
    auto world = make_world();
    testing::on_every_rank(world, [&](Communicator& comm) {
      const Block block = comm.allocate(4000);
      const std::span shared(reinterpret_cast<float*>(block.bytes().data()), 1000);
      std::vector<double> other(300);
      for (int i = 0; i < 10; ++i) round(comm, shared, other);
      comm.barrier();
      if (comm.rank() == 0) stop_clock();
      comm.barrier();
      // A thread may have read the time before the clock was stopped, and may check for job events
      // only now.
      for (int i = 0; i < 10; ++i) round(comm, shared, other);
      comm.barrier();
      const long before = lock_calls;
      comm.barrier();
      for (int i = 0; i < kRounds; ++i) round(comm, shared, other);
      comm.barrier();
      const long calls = lock_calls - before;
      comm.barrier();
      if (comm.rank() != 0) return;
      start_clock();
      // Each rank may take two locks: one to check for job events, one to check for its peer's end.
      EXPECT_LE(calls, 2 * static_cast<long>(comm.world_size())) << "in " << kRounds << " rounds";
    });
  }
};

TEST_P(LockTest, NoneIsTakenByBlockingAllReduces) {
  expect_no_locks([](Communicator& comm, std::span<float> shared, std::vector<double>& other) {
    comm.all_reduce(shared, ReduceOp::kMean);
    comm.all_reduce(other, ReduceOp::kSum);
  });
}

TEST_P(LockTest, NoneIsTakenByRequests) {
  expect_no_locks([](Communicator& comm, std::span<float> shared, std::vector<double>& other) {
    Request first = comm.all_reduce_async(shared, ReduceOp::kMean);
    Request second = comm.all_reduce_async(other, ReduceOp::kSum);
    while (!first.test()) std::this_thread::yield();  // Here only the progress thread drives.
    second.wait();
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, LockTest,
                         ::testing::Combine(::testing::Values("shm", "tcp", "mixed"),
                                            ::testing::Values(2, 5)),
                         [](const auto& tested) {
                           return std::get<0>(tested.param) + "_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

TEST(StoppedClock, ShowsTheSameTimeUntilItGoesOn) {
  if (!kCounts) GTEST_SKIP() << "a sanitizer has locks of its own";
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  stop_clock();
  const auto before = std::chrono::steady_clock::now();
  pause();
  EXPECT_EQ(std::chrono::steady_clock::now(), before);
  start_clock();
  pause();
  EXPECT_GT(std::chrono::steady_clock::now(), before);
}

// The kinds of locks that the library could use.
TEST(LockCounter, CountsLocksOfEveryKind) {
  if (!kCounts) GTEST_SKIP() << "a sanitizer has locks of its own";
  std::mutex mutex;
  std::shared_mutex shared_mutex;
  std::condition_variable condition;
  const long before = lock_calls;
  std::unique_lock lock(mutex);
  EXPECT_EQ(lock_calls - before, 1);
  EXPECT_EQ(condition.wait_for(lock, std::chrono::milliseconds(1)), std::cv_status::timeout);
  EXPECT_EQ(lock_calls - before, 2);
  shared_mutex.lock_shared();
  EXPECT_EQ(lock_calls - before, 3);
  shared_mutex.unlock_shared();
}

}  // namespace
}  // namespace rota
