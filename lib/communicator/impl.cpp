// Queues operations, and decides whose turn it is to drive.
#include "communicator/impl.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "communicator/memory_need.h"
#include "communicator/topology.h"
#include "memory/host.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Collective;

// "64 bytes", "1.5 KiB", "4 MiB"
std::string in_units(std::size_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  const char* const units[] = {" KiB", " MiB", " GiB"};
  auto number = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; number >= 1024 && unit + 1 < std::size(units); ++unit) number /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", number);
  return text.data() + std::string(units[unit]);
}

transport::Manner manner_of(const Group& group) noexcept {
  return group.transport ? group.transport->manner() : transport::Manner{};
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

constexpr std::size_t kLeastCodedCount = 64 * 1024 / sizeof(float);

constexpr base::TimePoint kNever = base::TimePoint::max();

}  // namespace

Communicator::Impl::Impl(Group group, const Settings& settings)
    : group_(std::move(group)),
      settings_(settings.in(group_)),
      manner_(manner_of(group_)),
      maker_(std::this_thread::get_id()),
      shared_(group_.transport ? group_.transport->shared_memory() : nullptr),
      host_count_(host_count_of(hosts_of(group_.table))),
      patience_(patience_of(group_.may_spin, manner_)),
      driver_(group_, queue_),
      sent_counts_(group_.world_size()),
      received_counts_(group_.world_size()),
      no_memory_(out_of_memory(group_.rank)),
      progress_thread_([this] { return drive_unattended(); }, manner_.naps) {}

std::uint64_t Communicator::Impl::submit(const Call& call) {
  if (broken()) throw_cause();
  require_own_thread();
  if (shared_ && queue_.empty()) driver_.flags()->make_ready();
  const Known& known = examine(call);
  if (queue_.full()) wait_for([this] { return !queue_.full(); }, kNever);
  Lease& lease = leases_[queue_.next() % OperationQueue::kCapacity];
  if (lease.planned != known.planned) lease.planned = known.planned;
  QueuedOperation& operation = queue_.next_slot();
  operation.plan = &known.planned->plan;
  operation.reducer = &known.planned->reducer;
  operation.coder = &known.planned->coder;
  // An operation has one kind of pointer; no plan writes to its input.
  auto* input = call.input ? const_cast<std::byte*>(call.input->data()) : nullptr;
  operation.buffers = {
      call.values ? call.values->data() : nullptr, input, known.planned->scratch.bytes().data(),
      call.feedback ? call.feedback->data() : nullptr, known.planned->coded.bytes().data()};
  const bool is_grouped = !call.group.empty();
  if (is_grouped || !lease.packing.parts.empty()) {
    lease.packing = pack(call, known);
  }
  operation.packing = is_grouped ? &lease.packing : nullptr;
  operation.parts = is_grouped ? lease.packing.list() : nullptr;
  if (is_grouped) operation.buffers[0] = lease.packing.values();
  operation.in_place = known.checked.in_place;
  operation.planned = known.planned.get();
  operation.signature = signature_of(call, known.checked, known.algorithm);
  return queue_.push();
}

// What is smaller takes as long whatever its size.
Codec Communicator::Impl::codec_for(const Call& call, const CheckedCall& checked) const noexcept {
  if (call.reduction.codec()) return *call.reduction.codec();
  if (settings_.codec == Codec::kIdentity) return Codec::kIdentity;
  const bool is_worth_it =
      call.collective == Collective::kAllReduce && checked.type == DataType::kFloat32 &&
      call.reduction.op() <= ReduceOp::kMean && checked.count >= kLeastCodedCount;
  return is_worth_it ? settings_.codec : Codec::kIdentity;
}

// Programs make the same calls again and again: of those only the address is new.
const Communicator::Impl::Known& Communicator::Impl::examine(const Call& call) {
  Known& known = known_[static_cast<std::size_t>(call.collective)];
  if (known.planned && is_again(call, known.call)) return known;
  known.planned = nullptr;
  known.checked = check(call, group_.rank, group_.world_size());
  known.checked.codec = codec_for(call, known.checked);
  const collectives::Choice choice = choice_for(call, known.checked);
  known.algorithm = choice.algorithm;
  known.group.assign(call.group.begin(), call.group.end());
  known.number = ++examined_;
  known.call = call;
  known.call.group = known.group;
  known.planned = planned_for(call, known.checked, choice);
  return known;
}

collectives::Choice Communicator::Impl::choice_for(const Call& call,
                                                   const CheckedCall& checked) const noexcept {
  if (checked.codec != Codec::kIdentity) return {Algorithm::kRing, "coded"};
  if (call.collective == Collective::kAllReduce && settings_.all_reduce) {
    return {*settings_.all_reduce, "asked for"};
  }
  const std::size_t bytes = checked.count * bytes_of(checked.type);
  if (call.collective == Collective::kAllReduce && group_.tuned) {
    return {tuned_all_reduce(*group_.tuned, bytes), "as the tuned file says"};
  }
  return collectives::choose({.collective = call.collective,
                              .world_size = group_.world_size(),
                              .bytes = bytes,
                              .shares_memory = shared_ != nullptr,
                              .host_count = host_count_});
}

// Calls with counts of their own are not expected to come again.
std::shared_ptr<const PlannedCollective> Communicator::Impl::planned_for(
    const Call& call, const CheckedCall& checked, const collectives::Choice& choice) {
  const PlanKey key{.collective = call.collective,
                    .algorithm = choice.algorithm,
                    .type = checked.type,
                    .in_place = checked.in_place,
                    .reduction = call.reduction,
                    .codec = checked.codec,
                    .feeds_back = call.feedback.has_value(),
                    .count = checked.count,
                    .root = call.root};
  if (!call.uneven) {
    if (const auto* found = plans_.find(key)) return *found;
  }
  say_once(call, checked, choice);
  std::shared_ptr<const PlannedCollective> planned = plan(call, checked, key.algorithm);
  if (!call.uneven) plans_.keep(key, planned);
  return planned;
}

std::unique_ptr<PlannedCollective> Communicator::Impl::plan(const Call& call,
                                                            const CheckedCall& checked,
                                                            Algorithm algorithm) {
  collectives::Reducer reducer(*settings_.reductions, checked.type, call.reduction,
                               group_.world_size());
  const collectives::Coder coder(*settings_.codings, checked.codec, call.reduction.op(),
                                 group_.rank, group_.world_size(), settings_.codec_seed);
  auto planned = std::make_unique<PlannedCollective>(PlannedCollective{
      .plan = {}, .reducer = reducer, .coder = coder, .scratch = {}, .coded = {}});
  const std::size_t element_bytes = bytes_of(checked.type);
  planned->value_bytes = call.values ? call.values->count() * element_bytes : 0;
  planned->input_bytes = call.input ? call.input->count() * element_bytes : 0;
  if (algorithm == Algorithm::kShared) {
    planned->method = PlannedCollective::kShared;
    return planned;
  }
  const std::vector<std::size_t> hosts = hosts_of(group_.table);
  const bool pre_scales = collectives::reduces(call.collective) && reducer.needs_pre_scale();
  planned->plan = collectives::make_plan({.collective = call.collective,
                                          .algorithm = algorithm,
                                          .rank = group_.rank,
                                          .world_size = group_.world_size(),
                                          .count = checked.count,
                                          .element_bytes = bytes_of(checked.type),
                                          .root = call.root,
                                          .in_place = checked.in_place,
                                          .pre_scales = pre_scales,
                                          .codec = checked.codec,
                                          .feeds_back = call.feedback.has_value(),
                                          .counts = call.counts,
                                          .receive_counts = call.receive_counts,
                                          .hosts = hosts});
  const collectives::Plan& plan = planned->plan;
  if (plan.scratch_count > 0) planned->scratch = allocate(plan.scratch_count * element_bytes);
  if (plan.coded_count > 0) planned->coded = allocate(coder.bytes(plan.coded_count));
  return planned;
}

// For whoever started the job with --verbose: one line for each way to make a collective. Where
// there is one rank, there is no choice.
void Communicator::Impl::say_once(const Call& call, const CheckedCall& checked,
                                  const collectives::Choice& choice) {
  if (!group_.verbose || group_.rank != 0 || group_.world_size() == 1) return;
  const std::string collective(to_string(call.collective));
  const std::string way =
      std::string(to_string(choice.algorithm)) + " (" + std::string(choice.why) + ")";
  const std::string key = collective + ": " + way;
  if (std::ranges::find(said_, key) != said_.end()) return;
  said_.push_back(key);
  std::string line = "rota: " + collective;
  if (call.collective != Collective::kBarrier) {
    line += " of " + in_units(checked.count * bytes_of(checked.type));
    if (checked.type != DataType::kByte) line += " " + std::string(to_string(checked.type));
    if (checked.codec != Codec::kIdentity) line += " as " + std::string(to_string(checked.codec));
  }
  line += " on " + std::to_string(group_.world_size()) + " ranks";
  if (group_.name != Group{}.name) line += " of communicator " + group_.name;
  line += " over " + group_.table.transport + ": " + way + "\n";
  std::fputs(line.c_str(), stderr);  // In one piece: others write there too.
}

// Both ends of a message say the same: who sends, and its how-manieth it is.
collectives::Signature Communicator::Impl::signature_of(const Call& call,
                                                        const CheckedCall& checked,
                                                        Algorithm algorithm) noexcept {
  collectives::Signature signature{.collective = call.collective,
                                   .algorithm = algorithm,
                                   .type = checked.type,
                                   .op = call.reduction.op(),
                                   .codec = checked.codec,
                                   .root = static_cast<std::uint32_t>(call.root),
                                   .count = checked.count,
                                   .sequence = 0};
  if (call.collective == Collective::kSend) {
    signature.root = static_cast<std::uint32_t>(group_.rank);
    signature.sequence = ++sent_counts_[call.root];
  } else if (call.collective == Collective::kReceive) {
    signature.collective = Collective::kSend;
    signature.sequence = ++received_counts_[call.root];
  } else {
    signature.sequence = ++collective_count_;
  }
  const bool uneven_exchange = call.collective == Collective::kAllToAll && call.uneven;
  if (uneven_exchange) signature.count = collectives::Signature::kUneven;
  return signature;
}

// Of the operations that are done and still leased, the latest whose packing will do.
template <class WillDo>
Packing Communicator::Impl::take_over_packing(WillDo will_do) {
  constexpr std::uint64_t kSlots = OperationQueue::kCapacity;
  const std::uint64_t oldest = queue_.next() > kSlots ? queue_.next() - kSlots : 1;
  for (std::uint64_t number = queue_.finished(); number >= oldest; --number) {
    Packing& done = leases_[number % kSlots].packing;
    if (will_do(done)) return std::exchange(done, {});
  }
  return {};
}

// The same groups come again and again, so what one that is done has used is taken over.
Packing Communicator::Impl::pack(const Call& call, const Known& known) {
  if (call.group.empty()) return {};
  const bool may_be_listed = known.algorithm == Algorithm::kShared;
  Packing packing = take_over_packing([&](const Packing& done) {
    const bool is_same = done.number == known.number || is_of(done, call.group);
    return is_same && (may_be_listed || !done.is_listed);
  });
  if (packing.parts.empty()) packing = pack_anew(call, known);
  packing.number = known.number;
  return packing;
}

Packing Communicator::Impl::pack_anew(const Call& call, const Known& known) {
  const std::size_t bytes = known.checked.count * bytes_of(known.checked.type);
  const bool is_listed = known.algorithm == Algorithm::kShared &&
                         !collectives::SharedRun::travels_with_post(bytes) &&
                         can_list(call.group, shared_->ranks[group_.rank].memory, sorted_parts_);
  const std::size_t needed = is_listed ? sizeof(collectives::PartList) : bytes;
  const Packing& forgotten = leases_[queue_.next() % OperationQueue::kCapacity].packing;
  // Lists are small, and of groups that may come again.
  Packing packing = take_over_packing([&](const Packing& done) {
    return done.memory.bytes().size() == needed && done.is_listed == is_listed &&
           (!is_listed || &done == &forgotten);
  });
  packing.parts.assign(call.group.begin(), call.group.end());
  if (packing.memory.bytes().size() != needed) packing.memory = allocate(needed);
  if (is_listed) list_parts(packing, shared_->ranks[group_.rank].memory);
  return packing;
}

Request Communicator::Impl::start(const std::shared_ptr<Impl>& self, const Call& call) {
  // A rank that is alone finishes what it begins. Where one thread alone may drive, it does so
  // while it waits.
  if (self->group_.transport && !self->manner_.one_thread) self->progress_thread_.start();
  const std::uint64_t number = self->submit(call);
  self->run_unattended();
  return {self, number};
}

void Communicator::Impl::run_unattended() {
  // Where many are under way it does not pay to look for each that is added.
  const std::uint64_t pending = queue_.submitted() - queue_.finished();
  if (pending > kManyPending && pending % kManyPending != 0) return;
  // The first chunks may leave at once.
  if (try_to_drive()) {
    Backoff backoff(Backoff::Manner::kSpin);
    drive(backoff);
    stop_driving();
  }
  if (!queue_.empty() && !broken()) progress_thread_.wake();
}

// While peers are about to come, a look at them is all that there is to do. Returns what the last
// drive() did.
template <class Done>
bool Communicator::Impl::drive_while_fast(Backoff& backoff, Done done) noexcept {
  for (int turns = 1;; ++turns) {
    const bool rests = drive(backoff);
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
    Backoff backoff(Backoff::Manner::kSpin);
    drive(backoff);
    stop_driving();
  }
  return queue_.is_done(number) || broken();
}

bool Communicator::Impl::drive(Backoff& backoff) noexcept {
  try {
    if (broken()) return false;
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
  } catch (const Error& error) {
    break_with(error);
  } catch (const std::bad_alloc&) {
    break_with(no_memory_);
  }
  return false;
}

ProgressThread::Work Communicator::Impl::drive_unattended() noexcept {
  using Work = ProgressThread::Work;
  if (queue_.empty() || broken() || waiters_.load(std::memory_order_acquire) > 0) {
    return Work::kNone;
  }
  if (!try_to_drive()) return Work::kStands;
  Backoff backoff(Backoff::Manner::kSleep);
  const bool stands = drive(backoff);
  stop_driving();
  return stands ? Work::kStands : Work::kMoves;
}

void Communicator::Impl::break_with(const Error& error) noexcept {
  if (broken()) return;
  cause_.emplace(driver_.fail(error));
  broken_.store(true, std::memory_order_release);
}

void Communicator::Impl::require_own_thread() const {
  if (!manner_.one_thread || std::this_thread::get_id() == maker_) return;
  throw Error(ErrorCode::kInvalidArgument,
              "the transport " + group_.table.transport +
                  " takes one thread: call from the one that made the communicator");
}

void Communicator::Impl::throw_cause() const { throw Error(*cause_); }

void Communicator::Impl::abort(std::string_view reason) noexcept {
  waiters_.fetch_add(1, std::memory_order_acq_rel);  // The progress thread steps back.
  while (!try_to_drive()) {
    if (group_.transport) group_.transport->wake();
    std::this_thread::yield();
  }
  break_with(Error(ErrorCode::kAborted,
                   "rank " + std::to_string(group_.rank) + ": " + std::string(reason)));
  stop_driving();
  waiters_.fetch_sub(1, std::memory_order_acq_rel);
}

void Communicator::Impl::close() noexcept {
  if (std::exchange(closed_, true)) return;
  progress_thread_.stop();
  while (!try_to_drive()) std::this_thread::yield();
  if (!queue_.empty()) {
    break_with(Error(ErrorCode::kClosed, "rank " + std::to_string(group_.rank) +
                                             " closed its communicator with collectives pending"));
  } else if (!broken()) {
    cause_.emplace(ErrorCode::kClosed, "the communicator was closed");
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
  warn_where_memory_lacks(group_, bytes);
  return group_.transport ? group_.transport->allocate(bytes) : memory::allocate_host(bytes);
}

}  // namespace rota
