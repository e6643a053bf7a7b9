// Queues operations, and decides whose turn it is to drive.
#include "communicator/impl.h"

#include <cstdint>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "communicator/memory_need.h"
#include "communicator/methods.h"

namespace rota {
namespace {

using collectives::Collective;
using collectives::PlannedCollective;

transport::Manner manner_of(const Group& group) noexcept {
  return group.transport ? group.transport->manner() : transport::Manner{};
}

std::string one_thread_of(const Group& group) {
  if (manner_of(group).one_thread) return "the transport " + group.table.transport;
  for (const auto& method : group.methods) {
    if (!method->one_thread().empty()) return std::string(method->one_thread());
  }
  return {};
}

Backoff patience_of(bool may_spin, const transport::Manner& manner) noexcept {
  return Backoff(may_spin ? Backoff::Manner::kSpin : Backoff::Manner::kYield,
                 manner.looks_at_memory ? Backoff::kSpins : Backoff::kSpinsOnSockets);
}

Error out_of_memory(std::size_t rank) {
  return {ErrorCode::kNoMemory,
          "rank " + std::to_string(rank) + " ran out of memory in a collective"};
}

// The longest that a resting thread is deaf to what only the coordinator knows.
constexpr std::chrono::milliseconds kLongestRest{2};

constexpr std::uint64_t kManyPending = 8;

// Without a look at whether somebody else wants to drive, or a wait is to end.
constexpr int kTurnsAtOnce = 64;

constexpr base::TimePoint kNever = base::TimePoint::max();

}  // namespace

Communicator::Impl::Impl(Group group, const Settings& settings)
    : group_(with_own_methods(std::move(group))),
      settings_(settings.in(group_)),
      manner_(manner_of(group_)),
      one_thread_(one_thread_of(group_)),
      maker_(std::this_thread::get_id()),
      patience_(patience_of(group_.may_spin, manner_)),
      driver_(group_, queue_),
      planner_(group_, settings_),
      packer_(group_, queue_),
      sent_counts_(group_.world_size()),
      received_counts_(group_.world_size()),
      no_memory_(out_of_memory(group_.rank)),
      progress_thread_([this] { return drive_unattended(); }, manner_.naps) {}

std::uint64_t Communicator::Impl::submit(Call& call) try {
  if (broken()) throw_cause();
  require_own_thread();
  if (queue_.empty()) driver_.make_ready();
  const Planner::Known& known = planner_.plan(call);
  const PlannedCollective& planned = *known.planned;
  if (queue_.full()) wait_for([this] { return !queue_.full(); }, kNever);
  QueuedOperation& operation = queue_.next_slot();
  if (operation.keeps != known.planned) operation.keeps = known.planned;
  operation.planned = &planned;
  // An operation has one kind of pointer; no plan writes to its input.
  auto* input = call.input ? const_cast<std::byte*>(call.input->data()) : nullptr;
  operation.buffers = {
      call.values ? call.values->data() : nullptr, input, planned.scratch.bytes().data(),
      call.feedback ? call.feedback->data() : nullptr, planned.coded.bytes().data()};
  operation.parts = nullptr;
  if (!call.group.empty()) {
    const Packing& packing =
        packer_.pack(call.group, known.number, planned.call.count * bytes_of(planned.call.type),
                     *group_.methods[planned.method]);
    operation.packing = &packing;
    operation.parts = packing.list();
    operation.buffers[0] = packing.values();
  } else if (operation.packing) {  // Of the operation that had this slot.
    packer_.forget();
    operation.packing = nullptr;
  }
  operation.sequence = next_sequence(planned.call);
  return queue_.push();
} catch (...) {
  rethrow_or_break();
}

// The others would wait for a call that there is no memory for.
void Communicator::Impl::rethrow_or_break() {
  try {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNoMemory || broken()) throw;
    break_between_turns(in_own_words(error.code(), ": ", error.what()));
  } catch (const std::bad_alloc&) {
    break_between_turns(no_memory_);
  }
  throw_cause();
}

// Both ends of a message count those between them.
std::uint64_t Communicator::Impl::next_sequence(const collectives::Description& call) noexcept {
  if (call.collective == Collective::kSend) return ++sent_counts_[call.root];
  if (call.collective == Collective::kReceive) return ++received_counts_[call.root];
  return ++collective_count_;
}

Request Communicator::Impl::start(const std::shared_ptr<Impl>& self, Call& call) {
  // A rank that is alone finishes what it begins. Where one thread alone may drive, it does so
  // while it waits.
  const bool may_start = self->group_.transport && self->one_thread_.empty();
  if (may_start && !self->progress_thread_.has_started()) self->start_progress_thread();
  const std::uint64_t number = self->submit(call);
  self->run_unattended();
  return {self, number};
}

void Communicator::Impl::start_progress_thread() try { progress_thread_.start(); } catch (...) {
  rethrow_or_break();
}

template <class Move>
bool Communicator::Impl::drive(Move move) noexcept {
  try {
    return !broken() && move();
  } catch (const Error& error) {
    break_with(error);
  } catch (const std::bad_alloc&) {
    break_with(no_memory_);
  }
  return false;
}

void Communicator::Impl::run_unattended() {
  // Where many are under way it does not pay to look for each that is added.
  const std::uint64_t pending = queue_.submitted() - queue_.finished();
  if (pending > kManyPending && pending % kManyPending != 0) return;
  // The first chunks may leave at once.
  if (try_to_drive()) {
    drive([this] { return driver_.turn(); });
    stop_driving();
  }
  if (!queue_.empty() && !broken()) progress_thread_.wake();
}

// While peers are about to come, a look at them is all that there is to do. Returns what the last
// drive_or_rest() did.
template <class Done>
bool Communicator::Impl::drive_while_fast(Backoff& backoff, Done done) noexcept {
  for (int turns = 1;; ++turns) {
    const bool rests = drive_or_rest(backoff);
    if (turns == kTurnsAtOnce || !backoff.fast() || done() || broken()) return rests;
  }
}

template <class Done>
bool Communicator::Impl::wait_for(Done done, base::TimePoint until) {
  if (done()) return true;
  // Where no call was asynchronous so far, there is nobody else to be told, or to wait.
  const bool counts = progress_thread_.has_started();
  if (counts) waiters_.fetch_add(1, std::memory_order_acq_rel);
  Backoff backoff = patience_;
  while (!done() && !broken()) {
    if (try_to_drive()) {
      const bool rests = drive_while_fast(backoff, done);
      stop_driving();
      if (rests) driver_.rest(kLongestRest);
    } else {
      // The progress thread is in the middle of a turn, or of a nap.
      if (group_.transport) group_.transport->wake();
      std::this_thread::yield();
    }
    if (until != kNever && base::Clock::now() >= until) break;
  }
  const bool last_waiter = counts && waiters_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  const bool is_done = done();
  if (!is_done && broken()) throw_cause();
  if (last_waiter && !queue_.empty()) progress_thread_.wake();
  return is_done;
}

void Communicator::Impl::wait(std::uint64_t number) { wait_until(number, kNever); }

bool Communicator::Impl::wait_until(std::uint64_t number, base::TimePoint until) {
  require_own_thread();
  return wait_for([&] { return queue_.is_done(number); }, until);
}

// Who asks again and again may be the only one that drives for a while.
bool Communicator::Impl::test(std::uint64_t number) {
  require_own_thread();
  if (!queue_.is_done(number) && !broken() && try_to_drive()) {
    drive([this] { return driver_.turn(); });
    stop_driving();
  }
  return queue_.is_done(number) || broken();
}

bool Communicator::Impl::drive_or_rest(Backoff& backoff) noexcept {
  return drive([&] {
    if (driver_.turn()) {
      backoff.reset();
      return false;
    }
    if (queue_.empty()) return false;
    const bool sleepy = backoff.idle();
    if (backoff.fast()) return false;
    driver_.look_around(backoff.now());
    if (!sleepy) return false;
    if (manner_.naps) return true;
    driver_.rest(kLongestRest);
    return false;
  });
}

ProgressThread::Work Communicator::Impl::drive_unattended() noexcept {
  using Work = ProgressThread::Work;
  if (queue_.empty() || broken() || waiters_.load(std::memory_order_acquire) > 0) {
    return Work::kNone;
  }
  if (!try_to_drive()) return Work::kStands;
  Backoff backoff(Backoff::Manner::kSleep);
  const bool stands = drive_or_rest(backoff);
  stop_driving();
  return stands ? Work::kStands : Work::kMoves;
}

void Communicator::Impl::break_with(const Error& error) noexcept {
  if (broken()) return;
  cause_.emplace(driver_.fail(error));
  broken_.store(true, std::memory_order_release);
}

void Communicator::Impl::require_maker() const {
  if (std::this_thread::get_id() == maker_) return;
  throw Error(ErrorCode::kInvalidArgument,
              one_thread_ + " takes one thread: call from the one that made the communicator");
}

void Communicator::Impl::throw_cause() const { throw Error(*cause_); }

void Communicator::Impl::abort(std::string_view reason) noexcept {
  break_between_turns(in_own_words(ErrorCode::kAborted, ": ", reason));
}

Error Communicator::Impl::in_own_words(ErrorCode code, std::string_view text,
                                       std::string_view more) const noexcept {
  try {
    return {code, "rank " + std::to_string(group_.rank) + std::string(text) + std::string(more)};
  } catch (const std::bad_alloc&) {
    return no_memory_;
  }
}

void Communicator::Impl::break_between_turns(const Error& error) noexcept {
  waiters_.fetch_add(1, std::memory_order_acq_rel);  // The progress thread steps back.
  while (!try_to_drive()) {
    if (group_.transport) group_.transport->wake();
    std::this_thread::yield();
  }
  break_with(error);
  stop_driving();
  waiters_.fetch_sub(1, std::memory_order_acq_rel);
}

void Communicator::Impl::close() noexcept {
  if (std::exchange(closed_, true)) return;
  progress_thread_.stop();
  while (!try_to_drive()) std::this_thread::yield();
  if (!queue_.empty()) {
    break_with(
        in_own_words(ErrorCode::kClosed, " closed its communicator with collectives pending"));
  } else if (!broken()) {
    cause_.emplace(in_own_words(ErrorCode::kClosed, " closed its communicator"));
    broken_.store(true, std::memory_order_release);
  }
  stop_driving();
  wait_for_waiters();
  group_.membership.reset();
  group_.transport.reset();
}

// A thread that waits for a request sees that the communicator is broken, and leaves. One that
// comes after this has read the count, in the order of all that change it, sees so before it does
// anything.
void Communicator::Impl::wait_for_waiters() noexcept {
  while (waiters_.fetch_add(0, std::memory_order_acq_rel) > 0) {
    if (group_.transport) group_.transport->wake();
    std::this_thread::yield();
  }
}

Block Communicator::Impl::allocate(std::size_t bytes) {
  if (broken()) throw_cause();
  return allocate_for(group_, bytes);
}

}  // namespace rota
