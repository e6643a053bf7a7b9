// Writes the words, and remembers which streams look at them.
#include "device/posts.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "base/time.h"
#include "device/block.h"
#include "device/calls.h"
#include "device/environment.h"

namespace rota::device {
namespace {

// How long the end of a communicator waits for streams that nothing of rota holds up.
constexpr std::chrono::seconds kLongestPassing{1};

}  // namespace

Posts::Posts(std::size_t count)
    : count_(count), memory_(allocate_pinned(count * sizeof(std::uint64_t))) {}

void Posts::post(std::size_t word, std::uint64_t number) noexcept {
  std::atomic_ref(*at(word)).store(number, std::memory_order_release);
}

void Posts::post_all() noexcept {
  for (std::size_t word = 0; word < count_; ++word) post(word, kAll);
}

bool Posts::hold(const cuda::On& on, std::size_t word, std::uint64_t number) {
  // Work of rota behind the wait in the same queue would never begin, and the wait never end.
  if (streams_share_queues()) return false;
  const Event& passed = unused_event(on.device);
  const int error = calls().wait_for_word(on, at(word), number);
  if (error == kNotSupported) return false;
  check_stream(error, on.device, "wait_on: the stream");
  check(calls().record(on, passed.handle()), on.device, "the recording of an event");
  return true;
}

const Event& Posts::unused_event(std::uint8_t device) {
  for (const Waiter& waiter : waiters_) {
    if (waiter.device == device && waiter.passed.has_happened()) return waiter.passed;
  }
  waiters_.push_back({device, Event(device)});
  return waiters_.back().passed;
}

bool Posts::is_idle() const noexcept {
  const auto deadline = base::Clock::now() + kLongestPassing;
  try {
    for (const Waiter& waiter : waiters_) {
      while (!waiter.passed.has_happened()) {
        if (base::Clock::now() > deadline) return false;
        std::this_thread::yield();
      }
    }
  } catch (const std::exception&) {
    return false;  // A device that has faulted does not tell whether it looks at a word.
  }
  return true;
}

}  // namespace rota::device
