// Begins MPI's collectives and tests them. MPI knows neither means nor pre-scaled sums, so a rank
// scales its values before and after. Only some ranks may have an input of their own, but MPI wants
// all ranks of an all-reduce or an all-gather to work in place, or none: so all do.
#include "collectives/mpi/run.h"

#include <climits>
#include <cstring>

#include <rota/error.h>

namespace rota::collectives {
namespace {

std::byte* address_of(const Operation& operation, Buffer buffer) noexcept {
  return operation.buffers[static_cast<std::size_t>(buffer)];
}

// Returns the operation by which MPI combines values.
ReduceOp op_for_mpi(const Description& call) noexcept {
  return call.reduction.op() == ReduceOp::kMean ? ReduceOp::kSum : call.reduction.op();
}

}  // namespace

std::size_t MpiRun::bytes() const noexcept {
  return call().count * operation_->planned->reducer.element_bytes();
}

void MpiRun::check(int error) const {
  if (error == 0) return;
  throw Error(ErrorCode::kPeerLost,
              transport::mpi::failure_of(world_.calls(), "a collective of MPI", error));
}

void MpiRun::start(const Operation& operation) {
  world_.require_open();
  operation_ = &operation;
  check(begin());
}

// Moves an input of this rank's own to its place in the values: the `bytes` bytes at `place`.
void MpiRun::move_in_place(std::byte* place, std::size_t bytes) const noexcept {
  if (!call().in_place) std::memcpy(place, address_of(*operation_, Buffer::kInput), bytes);
}

// Returns this rank's contribution to a reduction, which the root alone overwrites. Returns null if
// the contribution is in the values.
const std::byte* MpiRun::scaled_input() {
  const std::byte* input = call().in_place ? nullptr : address_of(*operation_, Buffer::kInput);
  const Reducer& reducer = operation_->planned->reducer;
  if (!reducer.needs_pre_scale()) return input;
  const std::byte* own = input ? input : address_of(*operation_, Buffer::kValues);
  scaled_.resize(bytes());
  if (!scaled_.empty()) std::memcpy(scaled_.data(), own, scaled_.size());
  reducer.pre_scale(scaled_.data(), call().count);
  return scaled_.data();
}

int MpiRun::begin() {
  const transport::mpi::Calls& calls = world_.calls();
  std::byte* values = address_of(*operation_, Buffer::kValues);
  const auto count = static_cast<int>(call().count);
  const auto root = static_cast<int>(call().root);
  const DataType type = call().type;
  switch (call().collective) {
    case Collective::kAllReduce:
      move_in_place(values, bytes());
      if (operation_->planned->reducer.needs_pre_scale()) {
        operation_->planned->reducer.pre_scale(values, call().count);
      }
      return calls.all_reduce(nullptr, values, count, type, op_for_mpi(call()), world_.comm(),
                              request_);
    case Collective::kReduce: {
      // MPI allows an input in place only at the root.
      const std::byte* input = scaled_input();
      return calls.reduce(input || is_root() ? input : values, values, count, type,
                          op_for_mpi(call()), root, world_.comm(), request_);
    }
    case Collective::kAllGather: {
      const std::size_t part_bytes = bytes() / world_.world_size();
      move_in_place(values + world_.rank() * part_bytes, part_bytes);
      return calls.all_gather(nullptr, values, count / static_cast<int>(world_.world_size()), type,
                              world_.comm(), request_);
    }
    case Collective::kBroadcast:
      return calls.broadcast(values, count, type, root, world_.comm(), request_);
    default:
      return calls.barrier(world_.comm(), request_);
  }
}

Turn MpiRun::step() {
  world_.require_open();
  bool is_done = false;
  check(world_.calls().test(request_, is_done));
  if (!is_done) return Turn::kNothing;
  const bool has_result = call().collective == Collective::kAllReduce ||
                          (call().collective == Collective::kReduce && is_root());
  if (has_result && call().reduction.op() == ReduceOp::kMean) {
    operation_->planned->reducer.scale_to_mean(address_of(*operation_, Buffer::kValues),
                                               call().count);
  }
  operation_ = nullptr;
  return Turn::kDone;
}

std::optional<Wait> MpiRun::waiting() const noexcept {
  if (!operation_) return std::nullopt;
  return Wait{.peer = (world_.rank() + 1) % world_.world_size(),
              .step_count = 1,
              .step_bytes = bytes(),
              .is_any = true};
}

std::string_view MpiCollectives::why_not(const Description& call) const noexcept {
  if (call.codec != Codec::kIdentity) return "MPI has no codecs";
  if (call.uneven) return "its parts are uneven";
  if (call.count == 0 && call.collective != Collective::kBarrier) return "there is nothing to move";
  if (call.count > INT_MAX) return "MPI counts to 2147483647";
  if (call.collective == Collective::kAllGather && call.count % world_->world_size() != 0) {
    return "its parts are uneven";
  }
  if (call.type == DataType::kFloat16 || call.type == DataType::kBfloat16) {
    return "MPI has no 16-bit floats";
  }
  if (!reduces(call.collective)) return {};
  const ReduceOp op = call.reduction.op();
  const bool compares = op == ReduceOp::kMin || op == ReduceOp::kMax;
  if (compares && is_float(call.type)) return "MPI may drop a NaN";
  // Open MPI's vector instructions do not wrap such sums.
  if (op == ReduceOp::kSum && bytes_of(call.type) == 1) return "MPI may cut off 8-bit sums";
  return {};
}

}  // namespace rota::collectives
