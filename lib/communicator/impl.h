// The implementation of a Communicator. Two threads may use it at the same time: the caller's
// thread and the progress thread. One atomic exchange decides which thread drives the communicator:
// only this thread moves data.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <rota/communicator.h>

#include "communicator/backoff.h"
#include "communicator/call.h"
#include "communicator/caller_streams.h"
#include "communicator/driver.h"
#include "communicator/group.h"
#include "communicator/operation_queue.h"
#include "communicator/packer.h"
#include "communicator/planner.h"
#include "communicator/progress_thread.h"
#include "communicator/request_source.h"
#include "communicator/settings.h"
#include "communicator/staging.h"
#include "communicator/waiters.h"
#include "os/origin.h"

namespace rota {

class Communicator::Impl final : public Request::Source,
                                 public std::enable_shared_from_this<Communicator::Impl> {
 public:
  // Makes a communicator that only the process that made it destroys. Another process leaves it as
  // it is.
  static std::shared_ptr<Impl> make(Group group, const Settings& settings);

  Impl(Group group, const Settings& settings);
  ~Impl() override;

  static Communicator communicator(std::shared_ptr<Impl> impl) {
    return Communicator(std::move(impl));
  }

  // Throws Error kClosed if the communicator was moved from, and what require_here() throws.
  static const std::shared_ptr<Impl>& of(const Communicator& communicator);

  const os::Origin& origin() const noexcept { return origin_; }
  // Throws Error kInvalidArgument if another process made the communicator.
  void require_here() const {
    if (!origin_.is_here()) refuse_elsewhere();
  }

  const Group& group() const noexcept { return group_; }
  const Settings& settings() const noexcept { return settings_; }

  // Queues a collective and returns its number. Fills in the rest of `call.what`. Only in the
  // process that made the communicator. Throws Error kInvalidArgument; kNoMemory, kSystem and
  // kTimeout, which break the communicator; and the Error that broke it.
  std::uint64_t submit(Call& call);
  std::uint64_t submit(Call&& call) { return submit(call); }

  // Queues a collective that makes progress while no thread waits for it. Throws the Errors of
  // submit(), and Error kSystem before anything is queued.
  static Request start(const std::shared_ptr<Impl>& self, Call& call);

  // The next functions throw what require_here() throws. The two that throw nothing do nothing in
  // another process.
  void wait(std::uint64_t number) override;
  bool wait_until(std::uint64_t number, base::TimePoint until) override;
  bool test(std::uint64_t number) override;
  void wait_on(std::uint64_t number, const cuda::On& on) override;
  Block allocate(std::size_t bytes);
  void abort(std::string_view reason) noexcept;
  void close() noexcept;

  // Returns whether close() has begun. Any thread may call it, also during close().
  bool is_closed() const noexcept;

  // Returns whether data moves only in calls of the program, and never behind its back.
  bool only_callers_drive() const noexcept {
    return wait_traits_.callers_only || !one_thread_.empty();
  }

  // For AgreedSteps: returns the number of steps that were begun with this communicator.
  std::uint64_t& step_count() noexcept { return step_count_; }

  // Returns the index of the next group that is made from this communicator, from 1.
  std::size_t next_child() noexcept { return ++child_count_; }

 private:
  void refuse_elsewhere() const;
  void stage(QueuedOperation& operation);  // Gives it pinned memory, for values on a device.
  [[noreturn]] void rethrow_or_break();    // Call it in a catch handler only.
  void start_progress_thread();
  std::uint64_t next_sequence(const collectives::Description& call) noexcept;

  template <class Done>
  bool drive_while_fast(Backoff& backoff, Done done) noexcept;

  // Drives until `done()` is true. Returns false if the time `until` passes earlier. Throws the
  // Error that broke the communicator.
  template <class Done>
  bool wait_for(Done done, base::TimePoint until);
  bool broken() const noexcept { return broken_.load(std::memory_order_acquire); }  // Of cause_.
  // A thread that begins to drive acquires all that the last one did while it drove.
  bool try_to_drive() noexcept { return !driving_->test_and_set(std::memory_order_acquire); }
  void stop_driving() noexcept { driving_->clear(std::memory_order_release); }

  // Calls `move` and returns its result; false if the communicator is broken, or if `move` throws.
  // Only the driving thread may call it. Only this function catches the exceptions of the data
  // path: they break the communicator.
  template <class Move>
  bool drive(Move move) noexcept;

  // Makes one turn of a thread that does not wait.
  void poll(bool looks_around) noexcept;

  // Makes one turn of a waiting thread. Returns true if the thread must stop driving before it
  // sleeps: over shared memory nothing wakes a sleeping thread, so another thread must be able to
  // drive.
  bool drive_or_sleep(Backoff& backoff) noexcept;
  void run_unattended();  // After a submit().
  ProgressThread::Work drive_unattended() noexcept;
  void break_with(const Error& error) noexcept;           // Only the driving thread may call it.
  void break_between_turns(const Error& error) noexcept;  // For all other threads.
  // Calls `change` while no thread drives.
  template <class Change>
  void between_turns(Change change);
  void make_posts();
  bool let_wait(std::uint64_t number, const cuda::On& on);
  // Returns an Error whose text is the name of this rank, such as "rank 3", followed by `text` and
  // `more`. Returns no_memory_ if there is no memory for the text.
  Error in_own_words(ErrorCode code, std::string_view text,
                     std::string_view more = {}) const noexcept;
  void wait_for_waiters() noexcept;
  [[noreturn]] void throw_cause() const;

  // Throws Error kInvalidArgument if calls are restricted to one thread, and this thread is another
  // one.
  void require_own_thread() const {
    if (!one_thread_.empty()) require_maker();
  }
  void require_maker() const;

  Group group_;
  Settings settings_;
  transport::WaitTraits wait_traits_;  // Of the transport.
  std::string one_thread_;             // What restricts calls to one thread; empty: nothing.
  std::thread::id maker_;              // The thread that made the communicator.
  os::Origin origin_;                  // The process that made it.
  Backoff backoff_;                    // The initial state of each wait.
  OperationQueue queue_;
  Driver driver_;
  Planner planner_;
  Packer packer_;
  CallerStreams caller_streams_;
  Staging staging_;
  std::mutex posts_mutex_;  // For threads that let streams wait.
  // For streams that wait for operations; null until one does. The driving thread posts.
  std::shared_ptr<device::Posts> posts_;
  std::uint64_t collective_count_ = 0;
  std::size_t child_count_ = 0;
  std::uint64_t step_count_ = 0;
  std::vector<std::uint64_t> sent_counts_;      // Index = peer: messages sent.
  std::vector<std::uint64_t> received_counts_;  // Index = peer: messages received.

  std::atomic_flag own_driving_;
  std::atomic_flag* driving_;  // Of this communicator, or shared by several: see WaitTraits.
  Waiters waiters_;
  std::atomic<bool> broken_{false};
  std::optional<Error> cause_;  // Written once, before broken_.
  Error no_memory_;             // Made while there is memory.
  std::atomic<bool> closed_{false};
  ProgressThread progress_thread_;
};

using CommunicatorImpl = Communicator::Impl;

}  // namespace rota
