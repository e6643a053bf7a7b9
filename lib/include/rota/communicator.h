// A group of ranks that combine buffers. Start here; settings live in <rota/options.h>.
//
// Calls are matched by order: every rank makes the same calls with the same count and type.
// One thread at a time may use a Communicator. The values of a call are lent until it is done.
// One failure breaks it for good, on every rank: each later call throws the first cause.
// Success leaves the same bits on every rank, whatever the transport and the timing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <rota/error.h>
#include <rota/memory.h>
#include <rota/options.h>
#include <rota/rank_table.h>
#include <rota/reduce_op.h>
#include <rota/request.h>
#include <rota/values.h>

namespace rota {

class Communicator {
 public:
  // Joins the job that started this process; a process that nothing started is a world of one.
  // Blocks until every rank has joined.
  // Throws Error: kTimeout after options.join_timeout (naming the absent), kMismatch if ranks
  // disagree on options, kPeerLost if one ended before it joined, kSystem, kNoMemory.
  explicit Communicator(
      const CommunicatorOptions& options = CommunicatorOptions::from_environment());

  // One Communicator for each of `count` threads of this process, in rank order: each is used by
  // one thread at a time, as any Communicator is. Memory is shared, and read where it lies.
  // Throws Error: kInvalidArgument for a count of 0, kSystem, kNoMemory.
  static std::vector<Communicator> for_threads(std::size_t count,
                                               const CommunicatorOptions& options = {});

  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();  // Never throws, never waits for a peer; pending Requests fail with kClosed.

  std::size_t rank() const noexcept;  // rank() < world_size()
  std::size_t world_size() const noexcept;
  const RankTable& rank_table() const noexcept;

  // Each collective has a blocking form, and one that returns at once with a Request.
  // All throw what Request::wait throws; kInvalidArgument where the arguments make no sense.

  // Every rank ends with the reduction, over all ranks, of `values`. In place.
  void all_reduce(Values values, ReduceOp op);
  [[nodiscard]] Request all_reduce_async(Values values, ReduceOp op);

  // Each rank ends with the reduction of slice_of(count, rank, world_size) of `values`.
  // In place; what lies outside its slice is unspecified.
  void reduce_scatter(Values values, ReduceOp op);
  [[nodiscard]] Request reduce_scatter_async(Values values, ReduceOp op);

  // Each rank gives slice_of(count, rank, world_size) of `values`; all end with all of them.
  void all_gather(Values values);
  [[nodiscard]] Request all_gather_async(Values values);

  // Every rank ends with the `values` of rank `root`. Requires root < world_size().
  void broadcast(Values values, std::size_t root);
  [[nodiscard]] Request broadcast_async(Values values, std::size_t root);

  // Returns when every rank has called it.
  void barrier();
  [[nodiscard]] Request barrier_async();

  // Memory for values that collectives use most directly: with shared memory, peers read it where
  // it lies. Any other memory works too, at the price of a copy. Zeroed, 64-byte aligned.
  // Throws Error kNoMemory when the host has no room.
  Block allocate(std::size_t bytes);

  // Bytes copied beside the wire's own, since the start: staging of memory that peers cannot reach.
  std::uint64_t staged_bytes() const noexcept;

  // Tells the other ranks and the launcher that this rank cannot go on, and why: their pending and
  // later calls throw kAborted with this text. For a failure outside of any collective.
  void abort(std::string_view reason) noexcept;

 private:
  class Impl;
  friend struct ThreadWorld;
  explicit Communicator(std::shared_ptr<Impl> impl) noexcept;
  Request leave_running(std::uint64_t number);

  std::shared_ptr<Impl> impl_;
};

}  // namespace rota
