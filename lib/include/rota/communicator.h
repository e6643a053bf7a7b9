// A Communicator is a group of ranks that combine buffers. Its options are in <rota/options.h>.
// Calls match by order: every rank must make the same calls with the same count and type. One
// thread at a time may use a Communicator, in the process that made it. In the child of a fork,
// calls throw kInvalidArgument, and destructors do nothing. The values of a call are borrowed until
// the call completes. Results that several ranks get have the same bits, over any transport, except
// with the plans mpi and nccl. One failure, other than refused arguments, breaks a Communicator for
// ever, on every rank: each later call throws the first cause. The values of a failed call are
// unspecified; those from allocate() may change until all ranks know of it.
//
// Each call has a blocking form, and an _async form that returns a Request: immediately, unless 64
// calls are pending. Both throw what Request::wait throws, and Error kInvalidArgument, with nothing
// done, if arguments make no sense: a null or misaligned address, types or counts that do not fit,
// a rank outside of the world, an operation that the type lacks, an input that overlaps the output.
// If one rank alone is refused, the others wait for its call until their deadline.
//
// If a call has two overloads, one works in place; the other writes an output, and never changes
// its input. The input of a blocking call is borrowed until it returns, and may be a temporary. The
// part of rank r is slice_of(count, r, world_size()). In the _v forms, that part is the counts[r]
// elements that follow the parts of the ranks below r. Every rank must give the same counts.
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
  using Counts = std::span<const std::size_t>;  // Numbers of elements; index = rank.
  // Joins the job that started this process, and blocks until every rank has joined. A process can
  // join its job only once. A process that no job started is a world of one. Throws Error: kTimeout
  // after join_timeout, naming the absent ranks; kMismatch if ranks disagree on options; kPeerLost
  // if a rank ended too early; kInvalidArgument for wrong options; kSystem; kNoMemory.
  explicit Communicator(
      const CommunicatorOptions& options = CommunicatorOptions::from_environment());

  // Returns a Communicator for each of `count` threads of this process. Outside a job, element i is
  // rank i. In a job, every process must make this call, with its own count, and all threads form
  // one world: element i of a process has rank i + the sum of counts of processes with lower ranks.
  // If a Communicator of this process has joined the job as the rank in `options`, the call is a
  // collective of that Communicator, and may be repeated. Otherwise the call joins the job. Throws
  // Error kInvalidArgument for 0 or over 4096 threads, and what constructor and collectives throw.
  static std::vector<Communicator> for_threads(
      std::size_t count,
      const CommunicatorOptions& options = CommunicatorOptions::from_environment());

  // Collective; a rank that needs no group gives a color of its own. Returns a Communicator of the
  // ranks that gave the same color, ordered by key, and if keys are equal, by rank. An empty `plan`
  // means the plan of this Communicator. Collectives of the new one end within `deadline`; unset:
  // this one's deadline. Each may have a thread of its own. Memory: see docs/memory.md. Throws what
  // collectives throw; kInvalidArgument for a wrong plan; kNoMemory; kSystem.
  Communicator split(std::size_t color, std::size_t key = 0, const std::string& plan = {},
                     std::optional<std::chrono::nanoseconds> deadline = {});

  // A moved-from Communicator may be destroyed and assigned to. Every other call throws kClosed, or
  // ends the program if the call is noexcept.
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();  // Fails pending Requests with kClosed. Only NCCL and some MPIs wait for ranks.

  std::size_t rank() const noexcept;  // rank() < world_size()
  std::size_t world_size() const noexcept;
  const RankTable& rank_table() const noexcept;
  Codec codec() const noexcept;                 // The codec in the options of this Communicator.
  std::uint64_t codec_seed() const noexcept;    // The codec_seed in these options.
  std::string_view plan() const noexcept;       // The plan in these options, such as "auto".
  const std::string& kernels() const noexcept;  // The kernels in these options.

  // Every rank ends with the reduction of the values of all ranks.
  void all_reduce(Values values, Reduction reduction);
  void all_reduce(InputValues input, Values output, Reduction reduction);
  [[nodiscard]] Request all_reduce_async(Values values, Reduction reduction);
  [[nodiscard]] Request all_reduce_async(ConstValues input, Values output, Reduction reduction);

  // All-reduces with the codec of `reduction` and error feedback. `feedback` has as many float32 as
  // `values`, and is all zeros before the first call. The call adds `feedback` to the values. Then
  // it writes to `feedback` what encoding lost on this rank, for the next call. Exact sum = result
  // + sum of `feedback` over all ranks. An exact mean is the result + that sum / world_size().
  void all_reduce_with_feedback(Values values, Values feedback, Reduction reduction);
  [[nodiscard]] Request all_reduce_with_feedback_async(Values values, Values feedback,
                                                       Reduction reduction);

  // Reduces many buffers of one type in one operation: the latency is paid once, not per buffer.
  // The call copies the buffers into one buffer and back, unless all buffers are from allocate()
  // and all ranks share memory. On a device, only NCCL takes a group: of at most 255 buffers.
  void all_reduce(std::initializer_list<Values> group, Reduction reduction);
  void all_reduce(std::span<const Values> group, Reduction reduction);
  [[nodiscard]] Request all_reduce_async(std::span<const Values> group, Reduction reduction);

  // Rank `root` ends with the reduction. In place, the values of the other ranks are unspecified
  // afterwards. `output` is used at the root only, and may be empty elsewhere.
  void reduce(Values values, std::size_t root, Reduction reduction);
  void reduce(InputValues input, Values output, std::size_t root, Reduction reduction);
  [[nodiscard]] Request reduce_async(Values values, std::size_t root, Reduction reduction);
  [[nodiscard]] Request reduce_async(ConstValues input, Values output, std::size_t root,
                                     Reduction reduction);

  // Each rank ends with its part of the reduction. In place, the values outside of that part are
  // unspecified afterwards. `output` has room for that part only.
  void reduce_scatter(Values values, Reduction reduction);
  void reduce_scatter(InputValues input, Values output, Reduction reduction);
  void reduce_scatter_v(Values values, Counts counts, Reduction reduction);
  void reduce_scatter_v(InputValues input, Values output, Counts counts, Reduction reduction);
  [[nodiscard]] Request reduce_scatter_async(Values values, Reduction reduction);
  [[nodiscard]] Request reduce_scatter_async(ConstValues input, Values output, Reduction reduction);
  [[nodiscard]] Request reduce_scatter_v_async(Values values, Counts counts, Reduction reduction);
  [[nodiscard]] Request reduce_scatter_v_async(ConstValues input, Values output, Counts counts,
                                               Reduction reduction);

  // Each rank gives its part of the values; every rank ends with all parts. `part` may be this
  // rank's part of `all` itself: then this rank does not copy it.
  void all_gather(Values values);
  void all_gather(InputValues part, Values all);
  void all_gather_v(Values values, Counts counts);
  void all_gather_v(InputValues part, Values all, Counts counts);
  [[nodiscard]] Request all_gather_async(Values values);
  [[nodiscard]] Request all_gather_async(ConstValues part, Values all);
  [[nodiscard]] Request all_gather_v_async(Values values, Counts counts);
  [[nodiscard]] Request all_gather_v_async(ConstValues part, Values all, Counts counts);

  // An all_gather in which only `root` ends with all parts. Parts have equal counts, except in the
  // _v forms. `all` is used at the root only; there, `part` may be the root's part of `all` itself.
  void gather(InputValues part, Values all, std::size_t root);
  void gather_v(InputValues part, Values all, Counts counts, std::size_t root);
  [[nodiscard]] Request gather_async(ConstValues part, Values all, std::size_t root);
  [[nodiscard]] Request gather_v_async(ConstValues part, Values all, Counts counts,
                                       std::size_t root);

  // The opposite of gather: each rank ends with its part of the values of rank `root`.
  void scatter(InputValues all, Values part, std::size_t root);
  void scatter_v(InputValues all, Values part, Counts counts, std::size_t root);
  [[nodiscard]] Request scatter_async(ConstValues all, Values part, std::size_t root);
  [[nodiscard]] Request scatter_v_async(ConstValues all, Values part, Counts counts,
                                        std::size_t root);

  // Each rank gives one part to every rank, and ends with one part from every rank, in rank order.
  // Parts have equal counts. In the _v form, send_counts[r] elements go to rank r, and
  // receive_counts[r] elements come from rank r.
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

  // Returns when every rank has called barrier().
  void barrier();
  [[nodiscard]] Request barrier_async();

  // One rank sends, and the peer receives the same count and type. Calls between two ranks match in
  // order. Up to eight calls of a rank run at once, collectives included. A call waits for an
  // earlier call if both use the same memory and one writes it, or if both send to, or receive
  // from, the same peer. So a swap needs two buffers: with one, both calls may throw kTimeout.
  void send(InputValues values, std::size_t to);
  void receive(Values values, std::size_t from);
  [[nodiscard]] Request send_async(ConstValues values, std::size_t to);
  [[nodiscard]] Request receive_async(Values values, std::size_t from);

  // Returns memory for values, all zeros, 64-byte aligned. Over shared memory, peers read it in
  // place, and write results of all-reduces, reduces and broadcasts into it; other memory costs a
  // copy. Not collective. Throws kNoMemory if the host has no room. See <rota/shared_allocator.h>.
  Block allocate(std::size_t bytes);

  std::uint64_t sent_bytes() const noexcept;  // Bytes of values given to other ranks so far.
  // Returns the bytes of values that went through the transport's memory so far. Over shm, they
  // were copied to or from the staging buffer: if the values of one rank are not from allocate(),
  // all ranks stage an all-reduce, reduce or broadcast. Over TCP, they arrived to be reduced.
  std::uint64_t staged_bytes() const noexcept;

  // Tells the other ranks and the launcher that this rank cannot go on, and why. Pending and later
  // calls of all ranks throw kAborted with `reason`. Use it for failures outside of collectives.
  // Does not end this process: return from main, or rotarun ends it after --grace.
  void abort(std::string_view reason) noexcept;

  class ROTA_HIDDEN Impl;  // Internal to the library.

 private:
  explicit Communicator(std::shared_ptr<Impl> impl) noexcept;
  std::shared_ptr<Impl> impl_;
};

}  // namespace rota
