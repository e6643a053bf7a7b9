// What a call asks for, without its addresses: one description from where it is examined to what
// its messages carry.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include <rota/codec.h>
#include <rota/error.h>
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
  kRing = 1,         // Neighbours only, all links busy.
  kDirect,           // Everybody with everybody, in one go.
  kHalvingDoubling,  // Partners at distances of powers of two: log2(world size) rounds each way.
  kTree,             // A binomial tree: the whole of the values up it, and down again.
  kTwoLevel,         // Inside each host, between hosts along rings, inside each host again.
  kStar,             // By way of rank 0: the parameter server, as a baseline.
  kChain,            // Pieces along the ring, one behind the other.
  kDissemination,    // Bare messages at distances of powers of two.
  kHub,              // By way of rank 0 as well, with the ring's bits: the fewest messages.
  kByHost,           // By way of one rank of each host, with the ring's bits.
  kShared,           // In memory that all ranks reach, without messages and without a plan.
};
inline constexpr Algorithm kLastAlgorithm = Algorithm::kShared;

struct Description {
  Collective collective = Collective::kAllReduce;
  Algorithm algorithm = Algorithm::kRing;  // Open until one is chosen.
  DataType type = DataType::kFloat32;
  // Elements: of the values of all ranks together where each rank has a part of them (all_gather,
  // reduce_scatter, gather, scatter), of each rank's values elsewhere.
  std::size_t count = 0;
  std::size_t root = 0;  // Of kReduce, kBroadcast, kGather, kScatter; the peer of kSend, kReceive.
  bool in_place = true;  // There is no input beside the values. Each rank may do as it likes.
  bool uneven = false;   // The parts have counts of their own.
  Reduction reduction = ReduceOp::kSum;  // Each rank may have a factor of its own.
  Codec codec = Codec::kIdentity;        // As the reduction says, or taken: of kAllReduce by kRing.
  bool feeds_back = false;               // A codec's: there is a feedback.

  friend bool operator==(const Description&, const Description&) = default;

  // For who looks at each: all there are.
  constexpr auto members() const noexcept {
    return std::tuple(collective, algorithm, type, count, root, in_place, uneven, reduction.op(),
                      reduction.factor(), reduction.codec(), codec, feeds_back);
  }
};
std::size_t hash_of(const Description& call) noexcept;

// What all ranks of a call have to agree on, as every message carries it: it is compared before a
// byte of the message touches the caller's values.
class Signature {
 public:
  // In the last a message has its own number.
  using Words = std::array<std::uint64_t, 4>;
  static constexpr std::size_t kSequence = 2;                  // The word of the sequence.
  static constexpr std::uint64_t kUneven = ~std::uint64_t{0};  // Counts differ from pair to pair.

  Signature() = default;
  explicit constexpr Signature(const Words& words) noexcept
      : words_{words[0], words[1], words[2], 0} {}
  // Of a call on rank `rank`: both ends of a message say that it is sent, and by whom.
  Signature(const Description& call, std::size_t rank) noexcept;

  constexpr const Words& words() const noexcept { return words_; }
  constexpr Collective collective() const noexcept { return part<Collective, 0>(); }
  constexpr Algorithm algorithm() const noexcept { return part<Algorithm, 8>(); }
  constexpr DataType type() const noexcept { return part<DataType, 16>(); }
  constexpr ReduceOp op() const noexcept { return part<ReduceOp, 24, 0xf>(); }
  constexpr Codec codec() const noexcept { return part<Codec, 28, 0xf>(); }
  constexpr std::uint32_t root() const noexcept { return part<std::uint32_t, 32, ~0U>(); }
  constexpr std::uint64_t count() const noexcept { return words_[1]; }
  // The how-manieth operation of its communicator this is; of a message, between its two ranks.
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

// "all_reduce #7 of 1000 float32 (mean, ring)", "all_reduce #8 of 99999 float32 (sum, ring, int8)"
std::string to_text(const Signature& signature);

// What a rank throws that finds a peer in another operation; `detail` follows the two.
Error mismatch(const Signature& own, const Signature& theirs, std::size_t peer,
               const std::string& detail = {});

std::string_view to_string(Collective collective) noexcept;
bool reduces(Collective collective) noexcept;
bool has_root(Collective collective) noexcept;
bool is_between_two(Collective collective) noexcept;  // A message, at either of its ends.

}  // namespace rota::collectives
