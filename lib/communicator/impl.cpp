// Checks arguments, queues operations, and decides whose turn it is to drive.
#include "communicator/impl.h"

#include <cstdint>
#include <string>
#include <utility>

#include "memory/host.h"

namespace rota {
namespace {

using collectives::Algorithm;
using collectives::Collective;

[[noreturn]] void refuse(Collective collective, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, std::string(to_string(collective)) + ": " + why);
}

void check_values(Collective collective, const Values& values) {
  if (values.count() > 0 && !values.data()) refuse(collective, "the values' address is null");
  if (reinterpret_cast<std::uintptr_t>(values.data()) % bytes_of(values.type()) != 0) {
    refuse(collective, "the values' address is not aligned for their type");
  }
}

void check_reducible(Collective collective, const Values& values) {
  check_values(collective, values);
  if (values.type() == DataType::kByte) refuse(collective, "bytes can be moved, not reduced");
}

PlanKey key_of(Collective collective, Algorithm algorithm, const Values& values) noexcept {
  return {.collective = collective,
          .algorithm = algorithm,
          .type = values.type(),
          .op = ReduceOp::kSum,
          .count = values.count(),
          .root = 0};
}

Algorithm algorithm_from(const std::string& plan) {
  if (const auto algorithm = collectives::all_reduce_algorithm(plan)) return *algorithm;
  throw Error(ErrorCode::kInvalidArgument,
              "there is no plan '" + plan + "' for an all-reduce: take ring or star");
}

Backoff::Manner manner_of(const Group& group) noexcept {
  return group.may_spin ? Backoff::Manner::kSpin : Backoff::Manner::kYield;
}

// The longest that a resting thread is deaf to what only the launcher knows.
constexpr std::chrono::milliseconds kLongestRest{2};

}  // namespace

Communicator::Impl::Impl(Group group, const CommunicatorOptions& options)
    : group_(std::move(group)),
      driver_(group_, queue_),
      plans_(group_.rank, group_.world_size(), kernels::select(options.kernels)),
      all_reduce_algorithm_(algorithm_from(options.plan)),
      progress_thread_([this] { return drive_unattended(); }) {}

std::uint64_t Communicator::Impl::all_reduce(Values values, ReduceOp op) {
  check_reducible(Collective::kAllReduce, values);
  PlanKey key = key_of(Collective::kAllReduce, all_reduce_algorithm_, values);
  key.op = op;
  return submit(key, values);
}

std::uint64_t Communicator::Impl::reduce_scatter(Values values, ReduceOp op) {
  check_reducible(Collective::kReduceScatter, values);
  PlanKey key = key_of(Collective::kReduceScatter, Algorithm::kRing, values);
  key.op = op;
  return submit(key, values);
}

std::uint64_t Communicator::Impl::all_gather(Values values) {
  check_values(Collective::kAllGather, values);
  return submit(key_of(Collective::kAllGather, Algorithm::kRing, values), values);
}

std::uint64_t Communicator::Impl::broadcast(Values values, std::size_t root) {
  check_values(Collective::kBroadcast, values);
  if (root >= group_.world_size()) {
    refuse(Collective::kBroadcast, "root " + std::to_string(root) + " is outside of the world of " +
                                       std::to_string(group_.world_size()));
  }
  PlanKey key = key_of(Collective::kBroadcast, Algorithm::kChain, values);
  key.root = root;
  return submit(key, values);
}

std::uint64_t Communicator::Impl::barrier() {
  const Values none{std::span<std::byte>()};
  return submit(key_of(Collective::kBarrier, Algorithm::kDissemination, none), none);
}

std::uint64_t Communicator::Impl::submit(const PlanKey& key, Values values) {
  if (broken()) throw_cause();
  if (queue_.full()) wait(queue_.finished() + 1);
  if (plans_.full() && queue_.empty()) plans_.clear();
  const PlannedCollective& planned = plans_.find_or_make(key);
  return queue_.push({.plan = &planned.plan,
                      .reducer = &planned.reducer,
                      .data = values.data(),
                      .signature = {.collective = key.collective,
                                    .algorithm = key.algorithm,
                                    .type = key.type,
                                    .op = key.op,
                                    .root = static_cast<std::uint32_t>(key.root),
                                    .count = key.count,
                                    .sequence = 0}});
}

void Communicator::Impl::run_unattended() {
  // The first chunks may leave at once.
  if (try_to_drive()) {
    Backoff backoff(Backoff::Manner::kSpin);
    drive(backoff);
    stop_driving();
  }
  if (!queue_.empty() && !broken()) progress_thread_.wake();
}

void Communicator::Impl::wait(std::uint64_t number) {
  waiters_.fetch_add(1, std::memory_order_acq_rel);
  Backoff backoff(manner_of(group_));
  while (!finished(number) && !broken()) {
    if (try_to_drive()) {
      drive(backoff);
      stop_driving();
    } else {
      std::this_thread::yield();  // The progress thread is in the middle of a turn.
    }
  }
  const bool last_waiter = waiters_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (!finished(number)) throw_cause();
  if (last_waiter && !queue_.empty()) progress_thread_.wake();
}

bool Communicator::Impl::test(std::uint64_t number) { return finished(number) || broken(); }

void Communicator::Impl::drive(Backoff& backoff) noexcept {
  try {
    if (broken()) return;
    if (driver_.turn()) return backoff.reset();
    if (queue_.empty()) return;
    const bool sleepy = backoff.idle();
    if (backoff.fast()) return;
    driver_.look_around(backoff.now());
    if (sleepy) driver_.rest(kLongestRest);
  } catch (const Error& error) {
    break_with(error);
  }
}

bool Communicator::Impl::drive_unattended() noexcept {
  Backoff backoff(Backoff::Manner::kSleep);
  if (queue_.empty() || broken() || waiters_.load(std::memory_order_acquire) > 0) return false;
  if (try_to_drive()) {
    drive(backoff);
    stop_driving();
  }
  return true;
}

void Communicator::Impl::break_with(const Error& error) noexcept {
  if (broken()) return;
  cause_.emplace(driver_.fail(error));
  broken_.store(true, std::memory_order_release);
}

void Communicator::Impl::throw_cause() const { throw Error(*cause_); }

void Communicator::Impl::abort(std::string_view reason) noexcept {
  while (!try_to_drive()) std::this_thread::yield();
  break_with(Error(ErrorCode::kAborted,
                   "rank " + std::to_string(group_.rank) + ": " + std::string(reason)));
  stop_driving();
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
  if (group_.client) group_.client->leave();
  group_.client.reset();
  group_.transport.reset();
  stop_driving();
}

Block Communicator::Impl::allocate(std::size_t bytes) {
  if (broken()) throw_cause();
  return group_.transport ? group_.transport->allocate(bytes) : memory::allocate_host(bytes);
}

}  // namespace rota
