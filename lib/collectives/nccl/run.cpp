// Puts NCCL's collectives on the stream of a communicator, and asks an event for their end. A mean
// is NCCL's sum, which a kernel of rota divides: NCCL's own mean rounds in another way.
#include "collectives/nccl/run.h"

#include <algorithm>

#include <rota/error.h>

#include "collectives/nccl/calls.h"
#include "device/block.h"
#include "device/calls.h"
#include "device/current.h"

namespace rota::collectives::nccl {
namespace {

using rota::nccl::Job;

std::byte* address_in(const Operation& operation, Buffer buffer) noexcept {
  return operation.buffers[static_cast<std::size_t>(buffer)];
}

// Returns the operation by which NCCL combines values.
ReduceOp op_for_nccl(const Description& call) noexcept {
  return call.reduction.op() == ReduceOp::kMean ? ReduceOp::kSum : call.reduction.op();
}

// All addresses of a process: NCCL takes any of them. The parts of a grouped call are relative to
// the first.
std::span<std::byte> all_memory() noexcept {
  constexpr std::size_t kFirst = 4096;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a number of this kind is all that is known.
  return {reinterpret_cast<std::byte*>(kFirst), PTRDIFF_MAX - kFirst};
}

// Returns the first error of two calls, of which both were made.
int first_error(int first, int second) noexcept {
  return first != 0 && first != rota::nccl::kInProgress ? first : second;
}

}  // namespace

std::byte* NcclRun::values() const noexcept { return address_in(*operation_, Buffer::kValues); }

const std::byte* NcclRun::input() const noexcept {
  return call().in_place ? nullptr : address_in(*operation_, Buffer::kInput);
}

std::size_t NcclRun::bytes_of_count(std::size_t count) const noexcept {
  return count * operation_->planned->reducer.element_bytes();
}

void NcclRun::start(const Operation& operation) {
  operation_ = &operation;
  stage_ = Stage::kWaits;
  number_ = ++resources_.number;
  if (!resources_.signatures) return;
  resources_.signatures->post(number_, operation.signature());
  for (std::size_t peer = 0; peer < comm().world_size(); ++peer) compare_with(peer);
}

// A call of a non-blocking communicator may go on after it has returned. Only then is the next call
// allowed, and only then is all of it on the stream.
Turn NcclRun::step() {
  if (stage_ == Stage::kWaits) {
    if (!comm().is_ready(call().memory.device(), name())) return Turn::kNothing;
    begin();
    stage_ = Stage::kBegun;
  }
  if (stage_ == Stage::kBegun) {
    if (!comm().is_ready(call().memory.device(), name())) return Turn::kNothing;
    scale_to_means();
    comm().record();
    stage_ = Stage::kRuns;
  }
  if (!comm().has_ended(name())) return Turn::kNothing;
  // A rank that has called something else may have called before this operation has ended.
  for (std::size_t peer = 0; resources_.signatures && peer < comm().world_size(); ++peer) {
    compare_with(peer);
  }
  operation_ = nullptr;
  return Turn::kDone;
}

std::optional<Wait> NcclRun::waiting() const noexcept {
  if (!operation_ || comm().world_size() == 1) return std::nullopt;
  return Wait{.peer = (comm().rank() + 1) % comm().world_size(),
              .step_count = 1,
              .step_bytes = bytes_of_count(call().count),
              .is_any = true};
}

void NcclRun::compare_with(std::size_t peer) const {
  if (!resources_.signatures) return;  // The coordinator compares signatures.
  const auto theirs = resources_.signatures->find(peer, number_);
  if (!theirs || *theirs == operation_->signature()) return;
  throw mismatch(operation_->signature(), *theirs, peer);
}

void NcclRun::begin() {
  const device::Current current(comm().on().device);
  if (operation_->arrivals) comm().wait_for(*operation_->arrivals);
  comm().deregister_unused();
  register_buffers();
  comm().check(operation_->parts ? begin_group_of_parts() : begin_collective(), name());
}

// Registers them before the calls that are one group.
void NcclRun::register_buffers() const {
  if (!comm().registers()) return;
  const auto do_one = [this](const std::byte* at) { comm().register_memory(at, name()); };
  if (operation_->parts) return for_each_part([&](std::byte* at, std::size_t) { do_one(at); });
  do_one(values());
  if (input()) do_one(input());
}

Job NcclRun::job_of(const std::byte* from, std::byte* to, std::size_t count) const noexcept {
  return {.comm = comm().handle(),
          .stream = comm().on().stream,
          .input = from,
          .output = to,
          .count = count,
          .type = call().type};
}

int NcclRun::begin_collective() {
  const rota::nccl::Calls& calls = comm().calls();
  const ReduceOp op = op_for_nccl(call());
  const std::size_t own = bytes_of_count(comm().rank() * part_count());
  switch (call().collective) {
    case Collective::kAllReduce:
      return calls.all_reduce(job_of(contribution(), values(), call().count), op);
    case Collective::kReduce:
      return calls.reduce(job_of(contribution(), values(), call().count), op, call().root);
    case Collective::kReduceScatter: {
      std::byte* to = call().in_place ? values() + own : values();
      return calls.reduce_scatter(job_of(contribution(), to, part_count()), op);
    }
    case Collective::kAllGather: {
      const std::byte* from = call().in_place ? values() + own : input();
      return calls.all_gather(job_of(from, values(), part_count()));
    }
    case Collective::kBroadcast:
      return calls.broadcast(job_of(values(), values(), call().count), call().root);
    default:
      return begin_exchange();
  }
}

// Returns this rank's values, multiplied by the reduction's factor.
const std::byte* NcclRun::contribution() {
  const Reducer& reducer = operation_->planned->reducer;
  const std::byte* own = call().in_place ? values() : input();
  if (!reducer.needs_pre_scale()) return own;
  std::byte* scaled = values();
  if (!call().in_place) {
    scaled = scratch(bytes_of_count(call().count));
    copy(scaled, own, call().count);
  }
  scale(scaled, call().count, reducer.pre_factor());
  return scaled;
}

// Calls `calls`, which returns an error code, between the two calls that enclose a group.
template <class Calls>
int NcclRun::in_group(Calls calls) const {
  if (const int error = comm().calls().begin_group(); error != 0) return error;
  const int error = calls();
  return first_error(error, comm().calls().end_group());
}

template <class Do>
void NcclRun::for_each_part(Do each) const {
  const ScatterList& list = *operation_->parts;
  for (std::size_t i = 0; i < list.count; ++i) {
    // This rank has written the list, so its numbers are sizes of this machine.
    const auto bytes = static_cast<std::size_t>(list.parts[i].bytes);
    each(all_memory().data() + list.parts[i].offset, bytes / bytes_of_count(1));
  }
}

int NcclRun::begin_group_of_parts() {
  const Reducer& reducer = operation_->planned->reducer;
  if (reducer.needs_pre_scale()) {
    for_each_part(
        [&](std::byte* at, std::size_t count) { scale(at, count, reducer.pre_factor()); });
  }
  return in_group([&] {
    int error = 0;
    for_each_part([&](std::byte* at, std::size_t count) {
      const Job job = job_of(at, at, count);
      error = first_error(error, comm().calls().all_reduce(job, op_for_nccl(call())));
    });
    return error;
  });
}

// Moves parts between ranks: each with each, or each with the root.
int NcclRun::begin_exchange() {
  const std::size_t part = bytes_of_count(part_count());
  const std::size_t rank = comm().rank();
  const Collective collective = call().collective;
  const std::byte* from = call().in_place ? values() : input();
  if (collective == Collective::kAllToAll && call().in_place) {
    // Received parts overwrite the values.
    std::byte* kept = scratch(bytes_of_count(call().count));
    copy(kept, values(), call().count);
    from = kept;
  }
  if (collective == Collective::kAllToAll) {
    copy(values() + rank * part, from + rank * part, part_count());
  } else if (is_root() && !call().in_place) {
    const bool gathers = collective == Collective::kGather;
    copy(values() + (gathers ? rank * part : 0), from + (gathers ? 0 : rank * part), part_count());
  }
  return in_group([&] {
    int error = 0;
    for (std::size_t peer = 0; peer < comm().world_size(); ++peer) {
      if (peer != rank) error = first_error(error, exchange_with(peer, from));
    }
    return error;
  });
}

int NcclRun::exchange_with(std::size_t peer, const std::byte* from) {
  const rota::nccl::Calls& calls = comm().calls();
  const std::size_t part = bytes_of_count(part_count());
  const auto send = [&](std::size_t offset) {
    return calls.send(job_of(from + offset, nullptr, part_count()), peer);
  };
  const auto receive = [&](std::size_t offset) {
    return calls.receive(job_of(nullptr, values() + offset, part_count()), peer);
  };
  switch (call().collective) {
    case Collective::kAllToAll:
      return first_error(send(peer * part), receive(peer * part));
    case Collective::kGather:
      if (is_root()) return receive(peer * part);
      return peer == call().root ? send(0) : 0;
    default:  // kScatter
      if (is_root()) return send(peer * part);
      return peer == call().root ? receive(0) : 0;
  }
}

// The memory is never given back while the group exists: giving it back waits for the device. NCCL
// wants all ranks of a call to register their buffers, or none. So scratch is registered if the
// program's buffers are.
std::byte* NcclRun::scratch(std::size_t bytes) {
  const bool is_registered = comm().registers() && device::find_owned(values()) != nullptr;
  std::vector<DeviceBlock>& all = resources_.scratch[is_registered ? 1 : 0];
  if (all.empty() || all.back().bytes().size() < bytes) {
    const std::size_t doubled = all.empty() ? 0 : 2 * all.back().bytes().size();
    all.push_back(device::allocate_unwritten(std::max(bytes, doubled), comm().on().device));
  }
  if (is_registered) comm().register_memory(all.back().bytes().address(), name());
  return all.back().bytes().address();
}

void NcclRun::copy(std::byte* to, const std::byte* from, std::size_t count) const {
  device::check(device::calls().copy(comm().on(), to, from, bytes_of_count(count)),
                comm().on().device, "a copy of a collective");
}

void NcclRun::scale(std::byte* values, std::size_t count, double factor) const {
  device::check(device::calls().scale(comm().on(), values, count, call().type, factor),
                comm().on().device, "a scaling of a collective");
}

void NcclRun::scale_to_means() const {
  if (!reduces(call().collective) || call().reduction.op() != ReduceOp::kMean) return;
  const double factor = operation_->planned->reducer.mean_factor();
  if (operation_->parts) {
    return for_each_part([&](std::byte* at, std::size_t count) { scale(at, count, factor); });
  }
  if (call().collective == Collective::kReduceScatter) {
    const std::size_t own = bytes_of_count(comm().rank() * part_count());
    return scale(values() + (call().in_place ? own : 0), part_count(), factor);
  }
  if (call().collective == Collective::kAllReduce || is_root()) {
    scale(values(), call().count, factor);
  }
}

rota::nccl::Id make_id(const rota::nccl::Calls& calls) {
  rota::nccl::Id id{};
  const int error = calls.make_id(id);
  if (error == 0) return id;
  std::array<char, 512> text{};
  calls.describe(error, 0, text.data(), text.size());
  throw Error(ErrorCode::kSystem, name_of(calls) + " cannot begin a communicator: " + text.data() +
                                      " (NCCL error " + std::to_string(error) + ")");
}

NcclCollectives::NcclCollectives(const rota::nccl::Calls& calls, CommSetup setup,
                                 transport::SharedMemory* memory)
    : resources_{.comm = Comm(calls, std::move(setup))} {
  if (memory) resources_.signatures.emplace(*memory);
}

std::string_view NcclCollectives::why_not(const Description& call) const noexcept {
  if (call.codec != Codec::kIdentity) return "NCCL has no codecs";
  if (call.count == 0) return "there is nothing to move";
  if (call.uneven) return "its parts are uneven";
  const bool has_parts =
      call.collective == Collective::kReduceScatter || call.collective == Collective::kAllGather;
  if (has_parts && call.count % resources_.comm.world_size() != 0) return "its parts are uneven";
  if (!reduces(call.collective)) return {};
  const ReduceOp op = call.reduction.op();
  if (op >= ReduceOp::kBitAnd) return "NCCL has no bitwise operations";
  const bool compares = op == ReduceOp::kMin || op == ReduceOp::kMax;
  if (compares && is_float(call.type)) return "NCCL may drop a NaN";
  return {};
}

std::span<const std::byte> NcclCollectives::memory_of_parts(std::size_t) const noexcept {
  return all_memory();
}

std::optional<GroupWord> NcclCollectives::make_group_word() {
  return nccl::make_id(resources_.comm.calls());
}

// The new group's communicator is independent of this one's: ncclCommSplit would need all ranks of
// this group at the same time, and what it shares would end with this group.
std::unique_ptr<Method> NcclCollectives::for_group(const GroupWord& word,
                                                   const NewGroup& group) const {
  return std::make_unique<NcclCollectives>(resources_.comm.calls(),
                                           CommSetup{.id = word,
                                                     .rank = group.rank,
                                                     .world_size = group.world_size,
                                                     .who = group.who,
                                                     .deadline = group.deadline,
                                                     .registers = resources_.comm.registers()},
                                           group.memory);
}

}  // namespace rota::collectives::nccl
