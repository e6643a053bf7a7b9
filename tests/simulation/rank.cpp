// Makes the calls of a rank. Values are small whole numbers, so their sums do not depend on the
// order of additions.
#include "simulation/rank.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include <rota/values.h>

namespace rota::simulation {
namespace {

constexpr std::size_t kPoolBytes = 512 * 1024;
constexpr std::size_t kLargePoolBytes = 2 * kPoolBytes;
constexpr std::byte kTakenBack{0xA5};
constexpr std::size_t kLineBytes = 64;

// Another rank may be in the middle of a write when the owner takes its memory back. The write ends
// within kPieceEnds. After that, no write may come for the time kNothingComes.
constexpr std::chrono::milliseconds kPieceEnds{20};
constexpr std::chrono::milliseconds kNothingComes{100};

// How late a wait may end: a deadline is noticed late, and the rank then listens for a while.
constexpr std::chrono::milliseconds kMostLate{400};

// Returns the value that a rank gives in a call, at an index into all values that it gives in that
// call.
template <class T>
T given(std::size_t rank, std::size_t number, std::size_t index) {
  return static_cast<T>((rank * 31 + number * 17 + index * 7) % 13 + 1);
}

// Returns whether an MPI may still read and write the values of the calls that failed.
bool keeps_values(const Error& error) {
  return std::string_view(error.what()).find("may still use the buffers") != std::string_view::npos;
}

}  // namespace

Rank::Rank(World& world, Communicator communicator)
    : world_(world),
      scenario_(world.scenario()),
      comm_(std::move(communicator)),
      rank_(comm_.rank()),
      n_(comm_.world_size()),
      pool_bytes_(scenario_.is_large ? kLargePoolBytes : kPoolBytes),
      shared_(comm_.allocate(pool_bytes_)) {
  if (!is_on_device()) return;
  heap_.resize(pool_bytes_);
  device_ = allocate_device(pool_bytes_);
}

DeviceSpan<std::byte> Rank::on_device(std::span<const std::byte> copy) const {
  const auto offset = static_cast<std::size_t>(copy.data() - heap_.data());
  return device_.bytes().subspan(offset, copy.size());
}

void Rank::give_to_device(std::span<const std::byte> copy) const {
  const Inside here;
  world_.device().write(on_device(copy), std::vector<std::byte>(copy.begin(), copy.end()));
}

void Rank::take_from_device(std::span<std::byte> copy) const {
  const Inside here;
  std::ranges::copy(world_.device().read(on_device(copy)), copy.begin());
}

// Returns the memory that a call gets.
template <class T>
Values Rank::place_of(std::span<T> values) const {
  if (!is_on_device()) return values;
  const std::byte* const there = on_device(std::as_bytes(values)).address();
  return DeviceSpan<T>(reinterpret_cast<T*>(const_cast<std::byte*>(there)), values.size(), 0);
}

bool Rank::fails_at(std::size_t batch, Failure failure) const {
  return scenario_.failure == failure && scenario_.fails(rank_) && scenario_.failing_batch == batch;
}

void Rank::live() {
  std::size_t number = 0;
  for (std::size_t batch = 0; batch < scenario_.batches.size(); ++batch) {
    world_.begin(rank_, scenario_.batches[batch]);
    if (fails_at(batch, Failure::kLeaves)) {
      world_.note_failure(rank_);
      return;
    }
    if (fails_at(batch, Failure::kIsLate)) {
      world_.note_failure(rank_);
      const Inside here;
      world_.scheduler().sleep(3 * scenario_.deadline);
    }
    if (scenario_.late_comer == rank_ && scenario_.failing_batch == batch) {
      const Inside here;
      world_.scheduler().sleep(scenario_.pause);
    }
    if (fails_at(batch, Failure::kAborts) && !scenario_.is_begun) {
      world_.note_failure(rank_);
      comm_.abort("chosen to fail");
    }
    run_batch(batch, number);
    number += scenario_.batches[batch].size();
  }
  world_.begin_last(rank_);
  Running last{.number = number};
  within_deadline([&] {
    begin(last);
    finish(last);
  });
  check_untouched();
}

template <class F>
void Rank::within_deadline(F calls) {
  const auto began_at = world_.scheduler().now();
  try {
    calls();
  } catch (const Error&) {
    const auto took = world_.scheduler().now() - began_at;
    if (took > scenario_.deadline + kMostLate) {
      world_.report("rank " + std::to_string(rank_) + " heard of it after " + base::to_text(took));
    }
    throw;
  }
}

void Rank::run_batch(std::size_t batch, std::size_t first_number) {
  shared_used_ = heap_used_ = 0;
  std::vector<Running> all(scenario_.batches[batch].size());
  try {
    within_deadline([&] {
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].call = scenario_.batches[batch][i];
        all[i].number = first_number + i;
        if (i == 0 && fails_at(batch, Failure::kDisagrees)) {
          world_.note_failure(rank_);
          if (all[i].call.kind == Kind::kBarrier) all[i].call.kind = Kind::kAllReduce;
          ++all[i].call.count;
        }
        begin(all[i]);
      }
      if (fails_at(batch, Failure::kAborts) && scenario_.is_begun) abort_begun(all);
      // Each rank waits for its calls in its own order, which mostly does not begin with the first
      // call.
      for (std::size_t i = 0; i < all.size(); ++i) finish(all[(i + rank_) % all.size()]);
    });
  } catch (const Error& error) {
    if (keeps_values(error)) {
      world_.keep(std::move(shared_), std::move(heap_), std::move(device_));
      throw;
    }
    for (const Running& running : all) take_back(running);
    if (scenario_.fails(rank_)) watch_what_is_back(all);
    throw;
  }
}

void Rank::abort_begun(std::vector<Running>& all) {
  const std::size_t looks = scenario_.looks / (scenario_.second == rank_ ? 2 : 1);
  for (std::size_t i = 0; i < looks; ++i) all[i % all.size()].requests[0].test();
  world_.note_failure(rank_);
  comm_.abort("chosen to fail");
}

void Rank::begin(Running& running) {
  world_.note_come(running.number);
  if (running.call.is_integer) {
    begin_as<std::int64_t>(running);
  } else {
    begin_as<float>(running);
  }
}

void Rank::finish(Running& running) {
  for (Request& request : running.requests) request.wait();
  if (running.call.kind == Kind::kBarrier && !world_.have_all_come(running.number)) {
    world_.report(name_of(running) + ": it is past it before all have come");
  }
  if (running.call.is_integer) {
    check_as<std::int64_t>(running);
  } else {
    check_as<float>(running);
  }
  take_back(running);
}

std::string Rank::name_of(const Running& running) const {
  return "rank " + std::to_string(rank_) + ", call " + std::to_string(running.number) + " (" +
         std::string(simulation::name_of(running.call.kind)) + ")";
}

void Rank::take_back(const Running& running) {
  const std::vector<std::byte> bytes(std::max(running.values.size(), running.input.size()),
                                     kTakenBack);
  for (const auto& own : {running.values, running.input}) {
    if (own.empty()) continue;
    std::memcpy(own.data(), bytes.data(), own.size());
    if (is_on_device()) give_to_device(own);
  }
}

// Writes to the values that the rank has back, and checks that no other rank writes to them
// afterwards. Other ranks may have begun a write before they were told that this rank gave up. No
// write begins later.
void Rank::watch_what_is_back(const std::vector<Running>& all) {
  const auto sleep = [this](base::Duration duration) {
    const Inside here;
    world_.scheduler().sleep(duration);
  };
  sleep(scenario_.lateness + kPieceEnds);
  for (const Running& running : all) take_back(running);
  sleep(scenario_.lateness + kNothingComes);
  check_untouched();
}

// Checks that only the rank itself has written to the values that it has back.
void Rank::check_untouched() const {
  std::vector<std::byte> seen(is_on_device() ? heap_used_ : shared_used_);
  if (is_on_device()) {
    const Inside here;
    seen = world_.device().read(device_.bytes().first(seen.size()));
  } else if (!seen.empty()) {
    std::memcpy(seen.data(), shared_.bytes().data(), seen.size());
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == kTakenBack || seen[i] == std::byte{}) continue;
    return world_.report("rank " + std::to_string(rank_) + ": its byte " + std::to_string(i) +
                         " was written to after it had it back");
  }
}

// Returns memory for the buffer of a call. Buffers do not share cache lines. Some begin in the
// middle of a line.
template <class T>
std::span<T> Rank::take(std::size_t count, bool on_heap) {
  std::size_t& used = on_heap ? heap_used_ : shared_used_;
  if (on_heap && heap_.empty()) heap_.resize(pool_bytes_);
  std::byte* const pool = on_heap ? heap_.data() : shared_.bytes().data();
  const std::size_t at = used + (count % 2) * sizeof(std::int64_t);
  used = (at + count * sizeof(T) + kLineBytes - 1) / kLineBytes * kLineBytes;
  if (used > pool_bytes_) std::abort();
  return {reinterpret_cast<T*>(pool + at), count};
}

template <class T>
std::span<T> Rank::take_values(Running& running, std::size_t count) {
  const std::span<T> taken = take<T>(count, (running.call.on_heap >> rank_ & 1) != 0);
  running.values = std::as_writable_bytes(taken);
  return taken;
}

template <class T, class F>
void Rank::fill(std::span<T> values, F value) const {
  std::vector<T> made(values.size());
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = value(i);
  if (made.empty()) return;
  std::memcpy(values.data(), made.data(), values.size_bytes());
  if (is_on_device()) give_to_device(std::as_bytes(values));
}

template <class T>
void Rank::begin_as(Running& running) {
  const Call& call = running.call;
  const bool on_heap = (call.on_heap >> rank_ & 1) != 0;
  const bool is_root = rank_ == call.root;
  const auto own = [&](std::size_t index) { return given<T>(rank_, running.number, index); };
  const auto values = [&](std::size_t n) { return place_of(take_values<T>(running, n)); };
  const auto input = [&](std::size_t count, std::size_t first = 0) {
    const std::span<T> taken = take<T>(count, on_heap);
    running.input = std::as_writable_bytes(taken);
    fill(taken, [&](std::size_t i) { return own(first + i); });
    return ConstValues(place_of(taken));
  };
  const auto filled = [&](std::size_t count) {
    const std::span<T> taken = take_values<T>(running, count);
    fill(taken, own);
    return taken;
  };
  const auto both = [&](std::size_t count) { return place_of(filled(count)); };
  const auto add = [&](Request request) { running.requests.push_back(std::move(request)); };
  const Slice part = slice_of(call.count, rank_, n_);
  Reduction reduction = call.op;
  if (call.codec != Codec::kIdentity) reduction = reduction.by(call.codec);
  switch (call.kind) {
    case Kind::kAllReduce:
      if (call.in_place) return add(comm_.all_reduce_async(both(call.count), reduction));
      return add(comm_.all_reduce_async(input(call.count), values(call.count), reduction));
    case Kind::kGroup: {
      const std::span<T> all = filled(call.count);
      const std::size_t first = call.count / 3;
      const Values group[] = {all.first(first), all.subspan(first)};
      return add(comm_.all_reduce_async(group, reduction));
    }
    case Kind::kReduce:
      if (call.in_place) return add(comm_.reduce_async(both(call.count), call.root, reduction));
      return add(comm_.reduce_async(input(call.count), values(is_root ? call.count : 0), call.root,
                                    reduction));
    case Kind::kReduceScatter:
      if (call.in_place) return add(comm_.reduce_scatter_async(both(call.count), reduction));
      return add(comm_.reduce_scatter_async(input(call.count), values(part.count), reduction));
    case Kind::kAllGather:
      if (call.in_place) return add(comm_.all_gather_async(both(call.count)));
      return add(comm_.all_gather_async(input(part.count, part.offset), values(call.count)));
    case Kind::kGather:
      return add(comm_.gather_async(input(call.count, rank_ * call.count),
                                    values(is_root ? n_ * call.count : 0), call.root));
    case Kind::kScatter:
      return add(
          comm_.scatter_async(input(is_root ? n_ * call.count : 0), values(call.count), call.root));
    case Kind::kAllToAll:
      if (call.in_place) return add(comm_.all_to_all_async(both(n_ * call.count)));
      return add(comm_.all_to_all_async(input(n_ * call.count), values(n_ * call.count)));
    case Kind::kBroadcast:
      return add(comm_.broadcast_async(both(call.count), call.root));
    case Kind::kBarrier:
      return add(comm_.barrier_async());
    case Kind::kShift:
      add(comm_.send_async(input(call.count), (rank_ + 1) % n_));
      return add(comm_.receive_async(values(call.count), (rank_ + n_ - 1) % n_));
    case Kind::kRelay: {
      const Values relayed = is_root ? both(call.count) : values(call.count);
      if (!is_root) add(comm_.receive_async(relayed, (rank_ + n_ - 1) % n_));
      if ((rank_ + 1) % n_ != call.root) add(comm_.send_async(relayed, (rank_ + 1) % n_));
      return;
    }
  }
}

template <class T>
T Rank::combined(const Running& running, std::size_t index) const {
  T all = given<T>(0, running.number, index);
  for (std::size_t rank = 1; rank < n_; ++rank) {
    const T next = given<T>(rank, running.number, index);
    if (running.call.op == ReduceOp::kSum) all += next;
    if (running.call.op == ReduceOp::kMin) all = std::min(all, next);
    if (running.call.op == ReduceOp::kMax) all = std::max(all, next);
  }
  return all;
}

// Returns the promised value; empty if no value is promised.
template <class T>
std::optional<T> Rank::expected(const Running& running, std::size_t i) const {
  const Call& call = running.call;
  const std::size_t number = running.number;
  const Slice part = slice_of(call.count, rank_, n_);
  switch (call.kind) {
    case Kind::kAllReduce:
    case Kind::kGroup:
      return combined<T>(running, i);
    case Kind::kReduce:
      if (rank_ != call.root) return std::nullopt;
      return combined<T>(running, i);
    case Kind::kReduceScatter:
      if (!call.in_place) return combined<T>(running, part.offset + i);
      if (i < part.offset || i >= part.offset + part.count) return std::nullopt;
      return combined<T>(running, i);
    case Kind::kAllGather: {
      std::size_t owner = 0;
      while (i >= slice_of(call.count, owner, n_).offset + slice_of(call.count, owner, n_).count) {
        ++owner;
      }
      return given<T>(owner, number, i);
    }
    case Kind::kGather:
      return given<T>(i / call.count, number, i);
    case Kind::kScatter:
      return given<T>(call.root, number, rank_ * call.count + i);
    case Kind::kAllToAll:
      return given<T>(i / call.count, number, rank_ * call.count + i % call.count);
    case Kind::kBroadcast:
    case Kind::kRelay:
      return given<T>(call.root, number, i);
    case Kind::kShift:
      return given<T>((rank_ + n_ - 1) % n_, number, i);
    case Kind::kBarrier:
      break;
  }
  return std::nullopt;
}

template <class T>
void Rank::check_as(const Running& running) {
  std::vector<T> seen(running.values.size() / sizeof(T));
  if (seen.empty()) return;
  if (is_on_device()) take_from_device(running.values);
  std::memcpy(seen.data(), running.values.data(), running.values.size());
  // One byte per number gives 255 levels, and each rank adds a rounding error.
  const double tolerance =
      running.call.codec == Codec::kInt8 ? 0.1 * static_cast<double>(n_ * n_) : 0;
  const std::string who = name_of(running);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto right = expected<T>(running, i);
    if (!right || std::abs(static_cast<double>(seen[i] - *right)) <= tolerance) continue;
    return world_.report(who + ": element " + std::to_string(i) + " is " + std::to_string(seen[i]) +
                         ", not " + std::to_string(*right));
  }
  const bool is_same_on_all =
      running.call.kind == Kind::kAllReduce || running.call.kind == Kind::kAllGather;
  const auto bytes = std::as_bytes(std::span(seen));
  if (is_same_on_all && !world_.agrees(running.number, {bytes.begin(), bytes.end()})) {
    world_.report(who + ": its bits are not those of another rank");
  }
}

}  // namespace rota::simulation
