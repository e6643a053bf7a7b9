// Queues operations, and decides which thread drives the communicator, that is, moves its data.
#include "communicator/impl.h"

#include <cstdint>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "communicator/blame.h"
#include "communicator/memory_need.h"
#include "communicator/methods.h"
#include "memory/kept.h"
#include "os/system_error.h"

namespace rota {
namespace {

using collectives::Collective;
using collectives::PlannedCollective;

transport::WaitTraits wait_traits_of(const Group& group) noexcept {
  return group.transport ? group.transport->wait_traits() : transport::WaitTraits{};
}

std::string one_thread_of(const Group& group) {
  if (wait_traits_of(group).one_thread) return "the transport " + group.table.transport;
  for (const auto& method : group.methods) {
    if (!method->one_thread().empty()) return std::string(method->one_thread());
  }
  return {};
}

Backoff::Patience patience_for(transport::Look look) noexcept {
  switch (look) {
    case transport::Look::kMemory:
      return Backoff::kOnMemory;
    case transport::Look::kLibrary:
      return Backoff::kOnLibraries;
    case transport::Look::kSocket:
      break;
  }
  return Backoff::kOnSockets;
}

Backoff backoff_for(bool may_spin, const transport::WaitTraits& wait_traits) noexcept {
  return Backoff(may_spin ? Backoff::Mode::kSpin : Backoff::Mode::kYield,
                 patience_for(wait_traits.look));
}

Error out_of_memory(std::size_t rank) {
  return {ErrorCode::kNoMemory, "rank " + std::to_string(rank) +
                                    " ran out of memory in a collective" + os::advice_on_memory()};
}

bool is_on_device(const Call& call) noexcept {
  const auto is_there = [](const auto& run) { return run && !run->memory().is_host(); };
  return is_there(call.values) || is_there(call.input) ||
         (!call.group.empty() && !call.group.front().memory().is_host());
}

// The longest sleep of a waiting thread. Messages from the coordinator do not wake the thread, so
// it reads them only after the sleep.
constexpr std::chrono::milliseconds kLongestSleep{2};

constexpr std::uint64_t kManyPending = 8;

// The turns that a waiting thread takes before it checks whether another thread wants to drive, and
// whether its own wait must end.
constexpr int kTurnsAtOnce = 64;

constexpr base::TimePoint kNever = base::TimePoint::max();

}  // namespace

Communicator::Impl::Impl(Group group, const Settings& settings)
    : group_(with_own_methods(std::move(group))),
      settings_(settings.in(group_)),
      wait_traits_(wait_traits_of(group_)),
      one_thread_(one_thread_of(group_)),
      maker_(std::this_thread::get_id()),
      backoff_(backoff_for(group_.may_spin, wait_traits_)),
      driver_(group_, queue_),
      planner_(group_, settings_),
      packer_(group_, queue_),
      sent_counts_(group_.world_size()),
      received_counts_(group_.world_size()),
      driving_(wait_traits_.driving ? wait_traits_.driving : &own_driving_),
      no_memory_(out_of_memory(group_.rank)),
      progress_thread_([this] { return drive_unattended(); }, wait_traits_.cannot_wake) {}

// In the child of a fork, the progress thread is not there to be joined, another thread of the
// parent may have held a lock, and the sockets and the shared memory are those of the parent.
std::shared_ptr<Communicator::Impl> Communicator::Impl::make(Group group,
                                                             const Settings& settings) {
  return {new Impl(std::move(group), settings), [](Impl* impl) {
            if (impl->origin_.is_here()) delete impl;
          }};
}

void Communicator::Impl::refuse_elsewhere() const {
  origin_.require_here("the communicator of " + name_of(group_.rank, group_.table));
}

Communicator::Impl::~Impl() {
  close();
  // A stream that has not come to its word yet will look at it.
  if (posts_ && !posts_->is_idle()) memory::keep_for_ever(posts_);
}

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
  // All pointers of an operation are mutable, but no plan writes to its input.
  auto* input = call.input ? const_cast<std::byte*>(call.input->data()) : nullptr;
  operation.buffers = {
      call.values ? call.values->data() : nullptr, input, planned.scratch.bytes().data(),
      call.feedback ? call.feedback->data() : nullptr, planned.coded.bytes().data()};
  operation.parts = nullptr;
  if (!call.group.empty()) {
    const Packing& packing =
        packer_.prepare(call.group, known.number, planned.call.count * bytes_of(planned.call.type),
                        *group_.methods[planned.method]);
    operation.packing = &packing;
    operation.parts = packing.list();
    operation.buffers[0] = packing.values();
  } else if (operation.packing) {  // The packing of the slot's last operation.
    packer_.forget();
    operation.packing = nullptr;
  }
  if (!planned.call.memory.is_host()) {
    stage(operation);
    operation.arrivals = caller_streams_.note(call, queue_.next());
  }
  operation.sequence = next_sequence(planned.call);
  operation.draw = call.draw;
  return queue_.push();
} catch (const Error& error) {
  // A device has failed, or does not end what it began. The other ranks would wait for this call.
  const bool is_of_device =
      error.code() == ErrorCode::kSystem || error.code() == ErrorCode::kTimeout;
  if (!is_of_device || broken()) rethrow_or_break();
  break_between_turns(error);
  throw_cause();
} catch (...) {
  rethrow_or_break();
}

void Communicator::Impl::stage(QueuedOperation& operation) {
  const PlannedCollective& planned = *operation.planned;
  if (planned.plan.staging_count == 0) {
    operation.staging =
        group_.methods[planned.method]->make_staging(planned, queue_.next(), queue_.finished());
    return;
  }
  const std::size_t bytes = planned.plan.staging_count * planned.reducer.element_bytes();
  const std::shared_ptr<const Block>& memory = staging_.memory_for(queue_.next(), bytes);
  if (operation.keeps_staging != memory) operation.keeps_staging = memory;
  operation.staging = memory->bytes().data();
}

// If a call fails for lack of memory, the communicator breaks: otherwise the other ranks would wait
// for this call.
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

// Both ends count the messages from this sender to this receiver, so both give a message the same
// number.
std::uint64_t Communicator::Impl::next_sequence(const collectives::Description& call) noexcept {
  if (call.collective == Collective::kSend) return ++sent_counts_[call.root];
  if (call.collective == Collective::kReceive) return ++received_counts_[call.root];
  return ++collective_count_;
}

Request Communicator::Impl::start(const std::shared_ptr<Impl>& self, Call& call) {
  // In a world of one, a call on host memory finishes immediately, so no progress thread is needed.
  // If only callers may drive the communicator, none may be there: callers drive while they wait.
  const bool may_start =
      (self->group_.transport || is_on_device(call)) && !self->only_callers_drive();
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
  // With many operations pending, a turn for each new operation costs more than it gains.
  const std::uint64_t pending = queue_.submitted() - queue_.finished();
  const bool takes_turn = pending <= kManyPending || pending % kManyPending == 0;
  // One turn may send the first chunks immediately.
  if (takes_turn && try_to_drive()) {
    drive([this] { return driver_.turn(); });
    stop_driving();
  }
  // The wake-up is needed without a turn, too. The progress thread may have finished all operations
  // that it sees, and go to sleep, before either thread sees what the other one has stored.
  if (!queue_.empty() && !broken()) progress_thread_.wake();
}

// While peers may answer soon, the thread takes up to kTurnsAtOnce turns without a break. Returns
// the result of the last drive_or_sleep().
template <class Done>
bool Communicator::Impl::drive_while_fast(Backoff& backoff, Done done) noexcept {
  for (int turns = 1;; ++turns) {
    const bool may_sleep = drive_or_sleep(backoff);
    if (turns == kTurnsAtOnce || !backoff.fast() || done() || broken()) return may_sleep;
  }
}

void Communicator::Impl::wait_on(std::uint64_t number, const cuda::On& on) {
  require_here();
  if (only_callers_drive() || !let_wait(number, on)) wait(number);
}

// Returns false if streams of the device cannot wait for the host. An operation that is done while
// the words are made is in them from the start.
bool Communicator::Impl::let_wait(std::uint64_t number, const cuda::On& on) {
  const std::scoped_lock lock(posts_mutex_);
  if (!posts_ && !broken()) make_posts();
  if (queue_.is_done(number) || broken()) return true;
  return posts_->hold(on, number % OperationQueue::kCapacity, number);
}

void Communicator::Impl::make_posts() {
  auto posts = std::make_shared<device::Posts>(OperationQueue::kCapacity);
  between_turns([&] {
    posts_ = std::move(posts);
    queue_.post_to(*posts_);
    if (broken()) posts_->post_all();
  });
}

template <class Done>
bool Communicator::Impl::wait_for(Done done, base::TimePoint until) {
  if (done()) return true;
  // If no call has been asynchronous yet, no other thread needs to know of this wait, and no other
  // thread can wait. If rota has no thread that drives, it does not show which calls there were.
  const bool counts = progress_thread_.has_started() || wait_traits_.callers_only;
  if (counts) waiters_.enter();
  Backoff backoff = backoff_;
  while (!done() && !broken()) {
    if (try_to_drive()) {
      const bool may_sleep = drive_while_fast(backoff, done);
      stop_driving();
      if (may_sleep) driver_.sleep(kLongestSleep);
    } else {
      // The progress thread drives the communicator: it moves data, or sleeps in the transport and
      // must be woken.
      if (group_.transport) group_.transport->wake();
      std::this_thread::yield();
    }
    if (until != kNever && base::Clock::now() >= until) break;
  }
  const bool last_waiter = counts && waiters_.leave();
  const bool is_done = done();
  if (!is_done && broken()) throw_cause();
  if (last_waiter && !queue_.empty()) progress_thread_.wake();
  return is_done;
}

void Communicator::Impl::wait(std::uint64_t number) { wait_until(number, kNever); }

bool Communicator::Impl::wait_until(std::uint64_t number, base::TimePoint until) {
  require_here();
  require_own_thread();
  const auto is_done = [&] { return queue_.is_done(number); };
  if (wait_for(is_done, until)) return true;
  poll(true);  // The wait may have been too short for a look, and kept other threads from looking.
  if (!is_done() && broken()) throw_cause();
  return is_done();
}

// A caller that polls may be the only thread that moves data for a while. If only callers drive, no
// other thread would see the deadline, or learn of an abort.
bool Communicator::Impl::test(std::uint64_t number) {
  require_here();
  require_own_thread();
  if (!queue_.is_done(number) && !broken()) poll(only_callers_drive());
  return queue_.is_done(number) || broken();
}

void Communicator::Impl::poll(bool looks_around) noexcept {
  if (!try_to_drive()) return;
  drive([&] {
    if (driver_.turn() || queue_.empty() || !looks_around) return false;
    driver_.look_around(base::Clock::now());
    return false;
  });
  stop_driving();
}

bool Communicator::Impl::drive_or_sleep(Backoff& backoff) noexcept {
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
    if (wait_traits_.cannot_wake) return true;
    driver_.sleep(kLongestSleep);
    return false;
  });
}

ProgressThread::Work Communicator::Impl::drive_unattended() noexcept {
  using Work = ProgressThread::Work;
  // The look at the waiters comes last: the last waiter sees the operations that this thread leaves
  // to it, and wakes this thread if some are left.
  if (queue_.empty() || broken() || waiters_.any()) return Work::kNone;
  if (!try_to_drive()) return Work::kStands;
  Backoff backoff(Backoff::Mode::kSleep);
  const bool stands = drive_or_sleep(backoff);
  stop_driving();
  return stands ? Work::kStands : Work::kMoves;
}

void Communicator::Impl::break_with(const Error& error) noexcept {
  if (broken()) return;
  cause_.emplace(driver_.fail(error));
  broken_.store(true, std::memory_order_release);
  if (posts_) posts_->post_all();
  // The library may use memory of this object, too: packed groups, and the scratch of plans.
  if (!driver_.keeps_buffers().empty()) memory::keep_for_ever(weak_from_this().lock());
}

void Communicator::Impl::require_maker() const {
  if (std::this_thread::get_id() == maker_) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      one_thread_ + " allows only one thread: call from the thread that created the communicator");
}

void Communicator::Impl::throw_cause() const { throw Error(*cause_); }

void Communicator::Impl::abort(std::string_view reason) noexcept {
  if (!origin_.is_here()) return;
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

// A thread that enters after close() has looked for waiters sees that the communicator is broken,
// and leaves the transport alone: close() may be destroying it.
template <class Change>
void Communicator::Impl::between_turns(Change change) {
  waiters_.enter();  // The progress thread stops driving.
  while (!try_to_drive()) {
    if (!broken() && group_.transport) group_.transport->wake();
    std::this_thread::yield();
  }
  change();
  stop_driving();
  const bool last_waiter = waiters_.leave();
  if (last_waiter && !queue_.empty() && !broken()) progress_thread_.wake();
}

void Communicator::Impl::break_between_turns(const Error& error) noexcept {
  between_turns([&] { break_with(error); });
}

void Communicator::Impl::close() noexcept {
  // Relaxed: no thread reads anything else because of this flag.
  if (!origin_.is_here() || closed_.exchange(true, std::memory_order_relaxed)) return;
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

bool Communicator::Impl::is_closed() const noexcept {
  return closed_.load(std::memory_order_relaxed);  // As in close().
}

// A thread that waits for a request sees that the communicator is broken, and leaves. A thread that
// comes later sees broken_ before it does anything.
void Communicator::Impl::wait_for_waiters() noexcept {
  while (waiters_.any()) {
    if (group_.transport) group_.transport->wake();
    std::this_thread::yield();
  }
}

Block Communicator::Impl::allocate(std::size_t bytes) {
  require_here();
  if (broken()) throw_cause();
  return allocate_for(group_, bytes);
}

}  // namespace rota
