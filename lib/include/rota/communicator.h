// A group of ranks that combine buffers. Start here; settings live in <rota/options.h>.
//
// Calls are matched by order: every rank makes the same calls with the same count and type.
// One thread at a time may use a Communicator. The values of a call are lent until it is done.
// One failure breaks it for good, on every rank: each later call throws the first cause. Values
// that it failed with are unspecified, and those from allocate() may go on changing until the other
// ranks have heard of it. Success leaves the same bits on every rank, over any transport.
//
// Each call has a blocking form, and one that returns at once with a Request. All throw what
// Request::wait throws, and kInvalidArgument, with nothing done, where the arguments make no sense:
// an address that is null or misaligned, types or counts that do not fit, a rank outside of the
// world, an operation that the type does not have, an input that overlaps the output.
//
// Two forms where two are given: in place, and from an input, which is only read, and which a call
// that blocks borrows until it returns: it may be a temporary there. `part of rank r` is
// slice_of(count, r, world_size()) or, in the forms with _v, the run of counts[r] elements that
// follows the parts of the ranks before r; every rank gives the same counts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <rota/error.h>
#include <rota/export.h>
#include <rota/memory.h>
#include <rota/options.h>
#include <rota/rank_table.h>
#include <rota/reduce_op.h>
#include <rota/request.h>
#include <rota/values.h>

namespace rota {

class ROTA_EXPORT Communicator {
 public:
  using Counts = std::span<const std::size_t>;  // Of elements; index = rank.

  // Joins the job that started this process, once, and blocks until every rank has; a process that
  // nothing started is a world of one. Throws Error: kTimeout after join_timeout, with the absent,
  // kMismatch if ranks disagree on options, kPeerLost if one ended too early, kSystem, kNoMemory.
  explicit Communicator(
      const CommunicatorOptions& options = CommunicatorOptions::from_environment());

  // One Communicator for each of `count` threads of this process; alone, [i] is rank i. In a job
  // every process calls it, with counts of their own, and the threads of all are one world: process
  // p's [i] has the rank i + the counts of the processes before p, in the order of their ranks. A
  // process that holds the Communicator that it has joined by, with the same options, keeps it and
  // may call this again: it is a collective of that one. Otherwise this joins, as the constructor.
  // Throws Error: kInvalidArgument for a count of 0; what the constructor and collectives throw.
  static std::vector<Communicator> for_threads(
      std::size_t count,
      const CommunicatorOptions& options = CommunicatorOptions::from_environment());

  // A Communicator of the ranks that give the same colour, ordered by key and, where keys are
  // equal, by rank here. `plan`: as CommunicatorOptions has it; empty: this one's. Collective. Both
  // live side by side, and each may be used by a thread of its own. Throws what collectives throw;
  // kInvalidArgument for a wrong plan; kNoMemory, kSystem. docs/memory.md has what a group takes.
  Communicator split(std::size_t color, std::size_t key = 0, const std::string& plan = {});

  // A moved-from Communicator may be destroyed and assigned to; every other call throws kClosed, or
  // ends the program where it is noexcept.
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();  // Never throws, never waits for a peer; pending Requests fail with kClosed.

  std::size_t rank() const noexcept;  // rank() < world_size()
  std::size_t world_size() const noexcept;
  const RankTable& rank_table() const noexcept;
  Codec codec() const noexcept;  // Of its options.

  // Every rank ends with the reduction, over all ranks, of their values.
  void all_reduce(Values values, Reduction reduction);
  void all_reduce(InputValues input, Values output, Reduction reduction);
  [[nodiscard]] Request all_reduce_async(Values values, Reduction reduction);
  [[nodiscard]] Request all_reduce_async(ConstValues input, Values output, Reduction reduction);

  // The same by the reduction's codec, with error feedback: `feedback`, as many float32, is added
  // to the values, and ends with what encoding lost here, for the next call; zeros to begin with.
  // All ranks' together are what the result lacks.
  void all_reduce_with_feedback(Values values, Values feedback, Reduction reduction);
  [[nodiscard]] Request all_reduce_with_feedback_async(Values values, Values feedback,
                                                       Reduction reduction);

  // Several buffers of one type in one operation: what small ones cost, they cost once together.
  // They are copied together and apart again, but where all are memory that allocate() gave.
  void all_reduce(std::initializer_list<Values> group, Reduction reduction);
  void all_reduce(std::span<const Values> group, Reduction reduction);
  [[nodiscard]] Request all_reduce_async(std::span<const Values> group, Reduction reduction);

  // Rank `root` ends with the reduction; in place, the values of the others are unspecified after.
  // `output` is used at the root only, and may be empty elsewhere.
  void reduce(Values values, std::size_t root, Reduction reduction);
  void reduce(InputValues input, Values output, std::size_t root, Reduction reduction);
  [[nodiscard]] Request reduce_async(Values values, std::size_t root, Reduction reduction);
  [[nodiscard]] Request reduce_async(ConstValues input, Values output, std::size_t root,
                                     Reduction reduction);

  // Each rank ends with its part of the reduction; in place, what lies outside is unspecified.
  // `output` is that part alone.
  void reduce_scatter(Values values, Reduction reduction);
  void reduce_scatter(InputValues input, Values output, Reduction reduction);
  void reduce_scatter_v(Values values, Counts counts, Reduction reduction);
  void reduce_scatter_v(InputValues input, Values output, Counts counts, Reduction reduction);
  [[nodiscard]] Request reduce_scatter_async(Values values, Reduction reduction);
  [[nodiscard]] Request reduce_scatter_async(ConstValues input, Values output, Reduction reduction);
  [[nodiscard]] Request reduce_scatter_v_async(Values values, Counts counts, Reduction reduction);
  [[nodiscard]] Request reduce_scatter_v_async(ConstValues input, Values output, Counts counts,
                                               Reduction reduction);

  // Each rank gives its part of the values; all end with all of them. `part` may be the part of
  // `all` itself: then nothing is copied.
  void all_gather(Values values);
  void all_gather(InputValues part, Values all);
  void all_gather_v(Values values, Counts counts);
  void all_gather_v(InputValues part, Values all, Counts counts);
  [[nodiscard]] Request all_gather_async(Values values);
  [[nodiscard]] Request all_gather_async(ConstValues part, Values all);
  [[nodiscard]] Request all_gather_v_async(Values values, Counts counts);
  [[nodiscard]] Request all_gather_v_async(ConstValues part, Values all, Counts counts);

  // The same, but only rank `root` ends with them. Parts are equally long. `all` is used at the
  // root only, where `part` may lie in its place in it.
  void gather(InputValues part, Values all, std::size_t root);
  void gather_v(InputValues part, Values all, Counts counts, std::size_t root);
  [[nodiscard]] Request gather_async(ConstValues part, Values all, std::size_t root);
  [[nodiscard]] Request gather_v_async(ConstValues part, Values all, Counts counts,
                                       std::size_t root);

  // The other way: each rank ends with its part of what rank `root` has.
  void scatter(InputValues all, Values part, std::size_t root);
  void scatter_v(InputValues all, Values part, Counts counts, std::size_t root);
  [[nodiscard]] Request scatter_async(ConstValues all, Values part, std::size_t root);
  [[nodiscard]] Request scatter_v_async(ConstValues all, Values part, Counts counts,
                                        std::size_t root);

  // Each rank gives one part to every rank, and ends with one part from every rank, in rank order.
  // Parts are equally long; in the form with _v, send_counts[r] elements go to rank r, and
  // receive_counts[r] come from it.
  void all_to_all(Values values);
  void all_to_all(InputValues input, Values output);
  void all_to_all_v(InputValues input, Counts send_counts, Values output, Counts receive_counts);
  [[nodiscard]] Request all_to_all_async(Values values);
  [[nodiscard]] Request all_to_all_async(ConstValues input, Values output);
  [[nodiscard]] Request all_to_all_v_async(ConstValues input, Counts send_counts, Values output,
                                           Counts receive_counts);

  // Every rank ends with the `values` of rank `root`.
  void broadcast(Values values, std::size_t root);
  [[nodiscard]] Request broadcast_async(Values values, std::size_t root);

  // Returns when every rank has called it.
  void barrier();
  [[nodiscard]] Request barrier_async();

  // From one rank to another, which calls the other one with the same count and type. Calls between
  // two ranks meet in order. Eight of a rank's calls, collectives or not, may go on side by side: a
  // call waits for an earlier one where both use the same memory and either writes it, or the same
  // direction to a peer. So a swap through one buffer on both sides throws kTimeout, which names
  // both calls.
  void send(InputValues values, std::size_t to);
  void receive(Values values, std::size_t from);
  [[nodiscard]] Request send_async(ConstValues values, std::size_t to);
  [[nodiscard]] Request receive_async(Values values, std::size_t from);

  // Memory that collectives use most directly: with shared memory, peers read it where it lies and,
  // of all-reduces, reduces and broadcasts, write to it. Any other costs a copy. Zeroed, 64-byte
  // aligned. Throws Error kNoMemory when the host has no room. See also <rota/shared_allocator.h>.
  Block allocate(std::size_t bytes);

  // Bytes of values that this rank has given to others, since the start.
  std::uint64_t sent_bytes() const noexcept;

  // Bytes of values that passed through memory of the transport's own, since the start. Over shared
  // memory: what was sent from memory that peers cannot reach, which is one copy more, and results
  // that peers write for it; of all ranks where one has such memory. Over TCP: what arrived to be
  // reduced, which is no copy more; all else lands where it belongs.
  std::uint64_t staged_bytes() const noexcept;

  // Tells the other ranks and the launcher that this rank cannot go on, and why: their pending and
  // later calls throw kAborted with this text. For a failure outside of any collective.
  void abort(std::string_view reason) noexcept;

  class ROTA_HIDDEN Impl;  // The library's own.

 private:
  explicit Communicator(std::shared_ptr<Impl> impl) noexcept;

  std::shared_ptr<Impl> impl_;
};

}  // namespace rota
