// What a call asks for, without its addresses: one description from where it is examined to what
// its messages carry.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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
  Algorithm algorithm = Algorithm::kRing;
  DataType type = DataType::kFloat32;
  // Elements: of the values of all ranks together where each rank has a part of them (all_gather,
  // reduce_scatter, gather, scatter), of each rank's values elsewhere.
  std::size_t count = 0;
  std::size_t root = 0;  // Of kReduce, kBroadcast, kGather, kScatter; the peer of kSend, kReceive.
  bool in_place = true;  // There is no input beside the values. Each rank may do as it likes.
  Reduction reduction = ReduceOp::kSum;  // Each rank may have a factor of its own.
  Codec codec = Codec::kIdentity;        // That is taken. Others: of kAllReduce by kRing.
  bool feeds_back = false;               // A codec's: there is a feedback.
  friend bool operator==(const Description&, const Description&) = default;
};
std::size_t hash_of(const Description& call) noexcept;

// What all ranks of a call have to agree on, carried by every message and compared before a byte of
// it touches the caller's values.
struct Signature {
  static constexpr std::uint64_t kUneven = ~std::uint64_t{0};  // Counts differ from pair to pair.

  Collective collective = Collective::kBarrier;
  Algorithm algorithm = Algorithm::kRing;
  DataType type = DataType::kByte;
  ReduceOp op = ReduceOp::kSum;
  Codec codec = Codec::kIdentity;
  std::uint32_t root = 0;  // Of a message: who sends it.
  std::uint64_t count = 0;
  std::uint64_t sequence = 0;  // The how-manieth operation of its communicator.
};

// Of a call on rank `rank`; both ends of a message say that it is sent. The sequence is left open.
Signature signature_of(const Description& call, std::size_t rank) noexcept;

// The last word is left to PlanRun, which puts the chunk there.
using SignatureWords = std::array<std::uint64_t, 4>;
SignatureWords to_words(const Signature& signature) noexcept;
Signature from_words(const SignatureWords& words) noexcept;

// "all_reduce #7 of 1000 float32 (mean, ring)", "all_reduce #8 of 99999 float32 (sum, ring, int8)"
std::string to_text(const Signature& signature);

// What a rank throws that finds a peer in another operation; `detail` follows the two.
Error mismatch(const Signature& own, const Signature& theirs, std::size_t peer,
               const std::string& detail = {});

std::string_view to_string(Collective collective) noexcept;
bool reduces(Collective collective) noexcept;
bool has_root(Collective collective) noexcept;

}  // namespace rota::collectives
