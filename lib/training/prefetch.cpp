// Runs the thread that gathers batches ahead.
#include <rota/prefetch.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <rota/error.h>

#include "os/origin.h"
#include "os/quiet_thread.h"

namespace rota {

// Batches are numbered in the order in which they are asked for. The batch that next() has returned
// keeps its slot, so there is one slot more than `depth`.
struct PrefetchThread::State {
  State(std::size_t most, std::function<void(std::size_t)> body)
      : depth(most), gather(std::move(body)), thread(os::start_quiet_thread([this] { run(); })) {}

  // Returns this object. Throws Error kInvalidArgument if another process made it: the thread is
  // not there.
  State& here() {
    origin.require_here("this Prefetch");
    return *this;
  }

  std::size_t slot_of(std::uint64_t batch) const noexcept {
    return static_cast<std::size_t>(batch % (depth + 1));
  }

  void run() noexcept {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return ends || gathered < asked; });
      if (ends) return;
      const std::size_t slot = slot_of(gathered);
      is_gathering = true;
      lock.unlock();
      gather(slot);
      lock.lock();
      is_gathering = false;
      ++gathered;
      changed.notify_all();
    }
  }

  const os::Origin origin;
  const std::size_t depth;
  const std::function<void(std::size_t)> gather;
  std::mutex mutex;
  std::condition_variable changed;
  bool ends = false;
  bool is_gathering = false;
  // Numbers of batches since the start: returned <= gathered <= asked.
  std::uint64_t asked = 0;
  std::uint64_t gathered = 0;
  std::uint64_t returned = 0;
  std::thread thread;  // Last: it uses the other members.
};

PrefetchThread::PrefetchThread(std::size_t depth, std::function<void(std::size_t)> gather) {
  if (depth == 0) {
    throw Error(ErrorCode::kInvalidArgument, "prefetch of 0 batches: expected 1 or more");
  }
  state_ = std::make_unique<State>(depth, std::move(gather));
}

PrefetchThread::~PrefetchThread() {
  state_->origin.leave_elsewhere(state_);
  if (!state_) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->ends = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

std::size_t PrefetchThread::slot_to_ask() const {
  State& state = state_->here();
  const std::lock_guard lock(state.mutex);
  if (state.asked - state.returned < state.depth) return state.slot_of(state.asked);
  throw Error(ErrorCode::kInvalidArgument,
              "prefetch of " + std::to_string(state.depth) +
                  " batches: as many are asked for; call next() before another ask()");
}

void PrefetchThread::ask() {
  {
    const std::lock_guard lock(state_->mutex);
    ++state_->asked;
  }
  state_->changed.notify_all();
}

std::size_t PrefetchThread::next() {
  State& state = state_->here();
  std::unique_lock lock(state.mutex);
  if (state.returned == state.asked) {
    throw Error(ErrorCode::kInvalidArgument,
                "prefetch: no batch was asked for; call ask() before next()");
  }
  state.changed.wait(lock, [&] { return state.gathered > state.returned; });
  return state.slot_of(state.returned++);
}

// The batch under way ends as a batch that was gathered and returned.
void PrefetchThread::forget() noexcept {
  if (!state_->origin.is_here()) return;
  std::unique_lock lock(state_->mutex);
  state_->asked = state_->gathered + (state_->is_gathering ? 1 : 0);
  state_->changed.wait(lock, [this] { return !state_->is_gathering; });
  state_->returned = state_->asked;
}

}  // namespace rota
