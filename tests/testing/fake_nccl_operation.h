// A communicator of the fake NCCL, and the work of an operation: each rank shows its values to the
// others, and takes its result when all have shown theirs.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/reductions.h"
#include "testing/fake_nccl.h"
#include "testing/fake_nccl_room.h"

namespace rota::testing {

// Memory that a communicator knows. Its address is NCCL's handle.
struct NcclRegistration {
  const std::byte* base = nullptr;
  std::size_t bytes = 0;
  std::uint64_t number = 0;  // Of the device's allocation.

  bool has(const void* address, std::size_t of_bytes) const {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - base);
    return offset <= bytes && of_bytes <= bytes - offset;
  }
  bool meets(const void* address, std::size_t of_bytes) const {
    const auto* const first = static_cast<const std::byte*>(address);
    return first < base + bytes && base < first + of_bytes;
  }
};

}  // namespace rota::testing

// NCCL's communicator. Work on a stream keeps it after it was destroyed.
struct rota::nccl::ncclComm {
  rota::testing::Room room;
  int rank = 0;
  int world_size = 1;
  std::atomic<int> busy{0};  // So many polls find the latest call in progress.
  std::atomic<bool> is_created{false};
  std::atomic<bool> is_ended{false};  // Operations end without a result.
  std::function<int()> add_late;      // Puts the latest call on its stream, when it is not busy.
  int failed_with = 0;
  bool is_finalized = false;
  std::uint64_t operations = 0;
  std::vector<std::unique_ptr<rota::testing::NcclRegistration>> registered;
};

namespace rota::testing {

// Returns what the library exports besides NCCL's functions.
NcclInside& inside();

// A collective, a send or a receive; several of them in a group are one operation.
struct NcclPart {
  PartFacts facts;
  const void* input = nullptr;
  void* output = nullptr;
};

inline DataType type_of(int type) {
  constexpr DataType kTypes[] = {DataType::kInt8,    DataType::kUint8,   DataType::kInt32,
                                 DataType::kInt32,   DataType::kInt64,   DataType::kInt64,
                                 DataType::kFloat16, DataType::kFloat32, DataType::kFloat64,
                                 DataType::kBfloat16};
  return kTypes[type];
}

inline ReduceOp op_of(int op) {
  constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kProduct, ReduceOp::kMax, ReduceOp::kMin};
  return kOps[op];
}

// One operation of one rank, and its two pieces of work: to show its values, and to take its
// result.
struct NcclOperation {
  std::shared_ptr<nccl::ncclComm> comm;
  std::uint64_t number = 0;
  std::vector<NcclPart> parts;
  bool is_registered = false;

  bool is_stuck() const {
    return inside().manner.stuck_at != 0 && number == inside().manner.stuck_at;
  }

  // The values of the operation before are taken.
  bool may_show() const {
    if (comm->is_ended.load()) return true;
    for (int rank = 0; rank < comm->world_size; ++rank) {
      if (comm->room.slot(rank).taken.load() + 1 < number) return false;
    }
    return true;
  }

  void show() const {
    if (comm->is_ended.load()) return;
    Room::Slot& slot = comm->room.slot(comm->rank);
    std::byte* to = comm->room.data(comm->rank);
    slot.part_count = parts.size();
    slot.is_registered = is_registered;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const PartFacts& facts = parts[i].facts;
      slot.parts[i] = facts;
      slot.offsets[i] = static_cast<std::size_t>(to - comm->room.data(comm->rank));
      const std::size_t bytes = shown_bytes(facts);
      if (bytes == 0) continue;
      const std::byte* from = inside().device->reach(parts[i].input, bytes);
      if (from) std::memcpy(to, from, bytes);
      to += bytes;
    }
    slot.shown.store(number);
  }

  std::size_t shown_bytes(const PartFacts& facts) const {
    const std::size_t bytes = facts.count * bytes_of(type_of(facts.type));
    switch (facts.kind) {
      case PartFacts::Kind::kReduceScatter:
        return bytes * static_cast<std::size_t>(comm->world_size);
      case PartFacts::Kind::kBroadcast:
        return facts.peer == comm->rank ? bytes : 0;
      case PartFacts::Kind::kReceive:
        return 0;
      default:
        return bytes;
    }
  }

  std::size_t taken_bytes(const PartFacts& facts) const {
    const std::size_t bytes = facts.count * bytes_of(type_of(facts.type));
    switch (facts.kind) {
      case PartFacts::Kind::kAllGather:
        return bytes * static_cast<std::size_t>(comm->world_size);
      case PartFacts::Kind::kReduce:
        return facts.peer == comm->rank ? bytes : 0;
      case PartFacts::Kind::kSend:
        return 0;
      default:
        return bytes;
    }
  }

  // Calls `look(address, bytes)` for each buffer.
  template <class Look>
  void for_each_buffer(Look look) const {
    for (const NcclPart& part : parts) {
      if (const std::size_t bytes = shown_bytes(part.facts)) look(part.input, bytes);
      if (const std::size_t bytes = taken_bytes(part.facts)) look(part.output, bytes);
    }
  }

  // NCCL's documentation calls it undefined behavior if some ranks pass registered buffers, and
  // others do not.
  bool is_registered_as_elsewhere() const {
    for (int rank = 0; rank < comm->world_size; ++rank) {
      if (comm->room.slot(rank).is_registered != is_registered) return false;
    }
    return true;
  }

  bool may_take() const {
    if (comm->is_ended.load()) return true;
    if (is_stuck()) return false;
    for (int rank = 0; rank < comm->world_size; ++rank) {
      if (comm->room.slot(rank).shown.load() < number) return false;
    }
    return inside().manner.swallows_mismatches || all_agree();
  }

  bool all_agree() const {
    const Room::Slot& own = comm->room.slot(comm->rank);
    for (int rank = 0; rank < comm->world_size; ++rank) {
      const Room::Slot& other = comm->room.slot(rank);
      if (own.parts[0].is_between_two() && other.parts[0].is_between_two()) continue;
      if (own.part_count != other.part_count) return false;
      for (std::size_t i = 0; i < own.part_count; ++i) {
        if (!(own.parts[i] == other.parts[i])) return false;
      }
    }
    return true;
  }

  void take() const {
    if (comm->is_ended.load()) return;
    if (!is_registered_as_elsewhere()) ++inside().counts.crimes;
    for (std::size_t i = 0; i < parts.size(); ++i) take(i);
    comm->room.slot(comm->rank).taken.store(number);
  }

  const std::byte* shown_by(int rank, std::size_t part) const {
    return comm->room.data(rank) + comm->room.slot(rank).offsets[part];
  }

  void take(std::size_t i) const {
    const PartFacts& facts = parts[i].facts;
    const std::size_t bytes = facts.count * bytes_of(type_of(facts.type));
    const auto n = static_cast<std::size_t>(comm->world_size);
    const auto to = [&](std::size_t size) { return inside().device->reach(parts[i].output, size); };
    switch (facts.kind) {
      case PartFacts::Kind::kAllReduce:
        return add_up(i, 0, to(bytes));
      case PartFacts::Kind::kReduce:
        if (facts.peer == comm->rank) add_up(i, 0, to(bytes));
        return;
      case PartFacts::Kind::kReduceScatter:
        return add_up(i, bytes * static_cast<std::size_t>(comm->rank), to(bytes));
      case PartFacts::Kind::kAllGather: {
        std::byte* all = to(n * bytes);
        for (std::size_t r = 0; all && r < n; ++r) {
          std::memcpy(all + r * bytes, shown_by(static_cast<int>(r), i), bytes);
        }
        return;
      }
      case PartFacts::Kind::kBroadcast:
        if (std::byte* own = to(bytes)) std::memcpy(own, shown_by(facts.peer, i), bytes);
        return;
      case PartFacts::Kind::kSend:
        return;
      case PartFacts::Kind::kReceive:
        return receive(facts, to(bytes), bytes);
    }
  }

  void receive(const PartFacts& facts, std::byte* to, std::size_t bytes) const {
    const Room::Slot& sender = comm->room.slot(facts.peer);
    for (std::size_t i = 0; to && i < sender.part_count; ++i) {
      const PartFacts& sent = sender.parts[i];
      if (sent.kind != PartFacts::Kind::kSend || sent.peer != comm->rank) continue;
      std::memcpy(to, shown_by(facts.peer, i), bytes);
      return;
    }
  }

  void add_up(std::size_t part, std::size_t offset, std::byte* to) const {
    const PartFacts& facts = parts[part].facts;
    const DataType type = type_of(facts.type);
    if (!to) return;
    std::memcpy(to, shown_by(0, part) + offset, facts.count * bytes_of(type));
    const auto combine = kernels::reference<kernels::Reductions>().combine(type, op_of(facts.op));
    for (int rank = 1; rank < comm->world_size; ++rank) {
      combine(to, shown_by(rank, part) + offset, facts.count, 1);
    }
  }
};

}  // namespace rota::testing
