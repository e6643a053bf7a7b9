// What a Communicator is made of. Two threads may meet here, the caller's and the progress thread;
// one atomic exchange decides which of them drives.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <rota/communicator.h>

#include "communicator/backoff.h"
#include "communicator/call.h"
#include "communicator/driver.h"
#include "communicator/group.h"
#include "communicator/operation_queue.h"
#include "communicator/packer.h"
#include "communicator/planner.h"
#include "communicator/progress_thread.h"
#include "communicator/request_source.h"
#include "communicator/settings.h"

namespace rota {

class Communicator::Impl final : public Request::Source {
 public:
  Impl(Group group, const Settings& settings);
  ~Impl() override { close(); }

  static Communicator communicator(std::shared_ptr<Impl> impl) {
    return Communicator(std::move(impl));
  }

  // Throws Error kClosed where the communicator was moved from.
  static const std::shared_ptr<Impl>& of(const Communicator& communicator);

  const Group& group() const noexcept { return group_; }
  const Settings& settings() const noexcept { return settings_; }

  // Queues a collective and returns its number. Makes what `call` says of itself complete. Throws
  // Error kInvalidArgument; kNoMemory, which breaks the communicator; and what broke it.
  std::uint64_t submit(Call& call);
  std::uint64_t submit(Call&& call) { return submit(call); }

  // Queues a collective that goes on while nobody waits for it. Throws what submit() throws, and
  // Error kSystem, before anything is queued.
  static Request start(const std::shared_ptr<Impl>& self, Call& call);

  void wait(std::uint64_t number) override;
  bool wait_until(std::uint64_t number, base::TimePoint until) override;
  bool test(std::uint64_t number) override;

  void abort(std::string_view reason) noexcept;
  void close() noexcept;

  Block allocate(std::size_t bytes);

  // Of AgreedSteps: how many it has begun with this communicator.
  std::uint64_t& step_count() noexcept { return step_count_; }

  // The how-manieth group this is to be made of it.
  std::size_t next_child() noexcept { return ++child_count_; }

 private:
  [[noreturn]] void rethrow_or_break();  // In a handler of what a call has thrown.
  void start_progress_thread();
  std::uint64_t next_sequence(const collectives::Description& call) noexcept;

  template <class Done>
  bool drive_while_fast(Backoff& backoff, Done done) noexcept;

  // Drives until `done()`. False at `until`; throws what broke the communicator.
  template <class Done>
  bool wait_for(Done done, base::TimePoint until);
  bool broken() const noexcept { return broken_.load(std::memory_order_acquire); }
  bool try_to_drive() noexcept { return !driving_.test_and_set(std::memory_order_acquire); }
  void stop_driving() noexcept { driving_.clear(std::memory_order_release); }

  // What `move` returns, of whoever drives; false where the communicator is broken. The only place
  // that catches what the data path throws.
  template <class Move>
  bool drive(Move move) noexcept;

  // One turn of who waits. True where it is time to rest, and somebody else may drive meanwhile:
  // memory does not wake who rests.
  bool drive_or_rest(Backoff& backoff) noexcept;
  void run_unattended();  // What was just submitted.
  ProgressThread::Work drive_unattended() noexcept;
  void break_with(const Error& error) noexcept;           // By whoever drives.
  void break_between_turns(const Error& error) noexcept;  // By anybody else.
  // "rank 3", `text` and `more`; without memory for that, the Error that says so.
  Error in_own_words(ErrorCode code, std::string_view text,
                     std::string_view more = {}) const noexcept;
  void wait_for_waiters() noexcept;
  [[noreturn]] void throw_cause() const;

  // Throws Error kInvalidArgument where another thread alone may call.
  void require_own_thread() const {
    if (!one_thread_.empty()) require_maker();
  }
  void require_maker() const;

  Group group_;
  Settings settings_;
  transport::Manner manner_;  // The transport's.
  std::string one_thread_;    // What takes one thread alone; empty: nothing does.
  std::thread::id maker_;     // The thread that made the communicator.
  Backoff patience_;          // That of a thread that begins to wait.
  OperationQueue queue_;
  Driver driver_;
  Planner planner_;
  Packer packer_;
  std::uint64_t collective_count_ = 0;
  std::size_t child_count_ = 0;
  std::uint64_t step_count_ = 0;
  std::vector<std::uint64_t> sent_counts_;      // By peer: messages, as are
  std::vector<std::uint64_t> received_counts_;  // these.

  std::atomic_flag driving_;
  std::atomic<int> waiters_{0};
  std::atomic<bool> broken_{false};
  std::optional<Error> cause_;  // Written once, before broken_.
  Error no_memory_;             // Made while there was some.
  bool closed_ = false;
  ProgressThread progress_thread_;
};

using CommunicatorImpl = Communicator::Impl;

}  // namespace rota
