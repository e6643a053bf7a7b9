// Describes a call without the addresses of its buffers. The check of the arguments makes the
// description; the planner and the signature in each message use it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include <rota/codec.h>
#include <rota/error.h>
#include <rota/memory_kind.h>
#include <rota/reduce_op.h>
#include <rota/values.h>

namespace rota::collectives {

enum class Collective : std::uint8_t {
  kAllReduce = 1,
  kReduce,
  kReduceScatter,
  kAllGather,
  kGather,
  kScatter,
  kAllToAll,
  kBroadcast,
  kBarrier,
  kSend,
  kReceive,
};
inline constexpr std::size_t kCollectives = static_cast<std::size_t>(Collective::kReceive) + 1;

enum class Algorithm : std::uint8_t {
  kRing = 1,         // Between neighbours only; all links are busy.
  kDirect,           // Each rank with each other rank, in one hop.
  kHalvingDoubling,  // Partners at distances of powers of two: log2(world size) rounds each way.
  kTree,             // A binomial tree: all values go up, and down again.
  kTwoLevel,         // Inside each host, between hosts along rings, inside each host again.
  kStar,             // Through rank 0: the parameter server, as a baseline.
  kChain,            // Pieces along the ring, one after another.
  kDissemination,    // Messages without values, at distances of powers of two.
  kHub,              // Through rank 0 like kStar, but with the ring's bits. The fewest messages.
  kByHost,           // Through one rank of each host, with the ring's bits.
  kShared,           // In shared memory of all ranks, without messages or a plan.
  kMpi,              // By MPI's own collectives.
  kNccl,             // By NCCL's own collectives.
};
inline constexpr Algorithm kLastAlgorithm = Algorithm::kNccl;

struct Description {
  Collective collective = Collective::kAllReduce;
  Algorithm algorithm = Algorithm::kRing;  // Not valid until an algorithm is chosen.
  DataType type = DataType::kFloat32;
  MemoryKind memory{};  // Where this rank's values lie. May differ between ranks.
  // The number of elements in each rank's values. If each rank has one part of the values
  // (all_gather, reduce_scatter, gather, scatter): the number of elements in all parts together.
  std::size_t count = 0;
  std::size_t root = 0;  // Root of kReduce, kBroadcast, kGather, kScatter; peer of kSend, kReceive.
  bool in_place = true;  // No separate input. May differ between ranks.
  bool uneven = false;   // Each part has its own count.
  Reduction reduction = ReduceOp::kSum;  // Each rank may have its own factor.
  Codec codec = Codec::kIdentity;  // From the reduction, or chosen; only for a kRing kAllReduce.
  bool feeds_back = false;         // The call has a feedback buffer.

  // Every call compares descriptions. The compiler compares the first four members as one word.
  friend bool operator==(const Description& a, const Description& b) noexcept {
    return a.kinds() == b.kinds() && a.count == b.count && a.root == b.root &&
           a.in_place == b.in_place && a.uneven == b.uneven && a.reduction == b.reduction &&
           a.codec == b.codec && a.feeds_back == b.feeds_back;
  }

  // Returns all members, for code that visits each of them.
  constexpr auto members() const noexcept {
    return std::tuple(collective, algorithm, type, memory.code(), count, root, in_place, uneven,
                      reduction.op(), reduction.factor(), reduction.codec(), codec, feeds_back);
  }

 private:
  constexpr std::uint32_t kinds() const noexcept {
    return std::uint32_t{static_cast<std::uint8_t>(collective)} |
           std::uint32_t{static_cast<std::uint8_t>(algorithm)} << 8 |
           std::uint32_t{static_cast<std::uint8_t>(type)} << 16 |
           std::uint32_t{memory.code()} << 24;
  }
};
std::size_t hash_of(const Description& call) noexcept;

// The part of a call that all ranks must agree on. Every message carries the sender's signature.
// The receiver compares it with its own signature before a byte of the message touches the caller's
// values.
class Signature {
 public:
  // The last word is for a message's index in its lane (see Lane in plan.h).
  using Words = std::array<std::uint64_t, 4>;
  static constexpr std::size_t kSequence = 2;                  // The word of the sequence.
  static constexpr std::uint64_t kUneven = ~std::uint64_t{0};  // Counts differ from pair to pair.

  Signature() = default;
  explicit constexpr Signature(const Words& words) noexcept
      : words_{words[0], words[1], words[2], 0} {}
  // Makes the signature of a call on rank `rank`. The two ranks of a kSend and its kReceive make
  // the same signature: a send, with the sender as root.
  Signature(const Description& call, std::size_t rank) noexcept;

  constexpr const Words& words() const noexcept { return words_; }
  constexpr Collective collective() const noexcept { return part<Collective, 0>(); }
  constexpr Algorithm algorithm() const noexcept { return part<Algorithm, 8>(); }
  constexpr DataType type() const noexcept { return part<DataType, 16>(); }
  constexpr ReduceOp op() const noexcept { return part<ReduceOp, 24, 0xf>(); }
  constexpr Codec codec() const noexcept { return part<Codec, 28, 0xf>(); }
  constexpr std::uint32_t root() const noexcept { return part<std::uint32_t, 32, ~0U>(); }
  constexpr std::uint64_t count() const noexcept { return words_[1]; }
  // Returns the index of the collective in its communicator, from 1. For a send, returns the index
  // of the send among all sends from this sender to this receiver.
  constexpr std::uint64_t sequence() const noexcept { return words_[kSequence]; }

  constexpr void set_sequence(std::uint64_t sequence) noexcept { words_[kSequence] = sequence; }

  friend bool operator==(const Signature&, const Signature&) = default;

 private:
  template <class T, int kShift, std::uint32_t kMask = 0xff>
  constexpr T part() const noexcept {
    return static_cast<T>(words_[0] >> kShift & kMask);
  }

  Words words_{};
};

// Returns a text such as "all_reduce #7 of 1000 float32 (mean, ring)" or "all_reduce #8 of 99999
// float32 (sum, ring, int8)"
std::string to_text(const Signature& signature);

// Returns the Error of a rank that finds a peer in another operation. The text has both signatures,
// then `detail`.
Error mismatch(const Signature& own, const Signature& theirs, std::size_t peer,
               const std::string& detail = {});

std::string_view to_string(Collective collective) noexcept;
bool reduces(Collective collective) noexcept;
bool has_root(Collective collective) noexcept;
bool is_between_two(Collective collective) noexcept;  // kSend or kReceive.

}  // namespace rota::collectives
