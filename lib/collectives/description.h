// What a rank believes it is doing, carried by every message and compared before a byte of it
// touches the caller's values.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include <rota/codec.h>
#include <rota/error.h>
#include <rota/reduce_op.h>
#include <rota/values.h>

#include "collectives/plan.h"

namespace rota::collectives {

struct Signature {
  static constexpr std::uint64_t kUneven = ~std::uint64_t{0};  // Counts differ from pair to pair.

  Collective collective = Collective::kBarrier;
  Algorithm algorithm = Algorithm::kRing;
  DataType type = DataType::kByte;
  ReduceOp op = ReduceOp::kSum;
  Codec codec = Codec::kIdentity;
  std::uint32_t root = 0;
  std::uint64_t count = 0;
  std::uint64_t sequence = 0;  // The how-manieth operation of its communicator.
};

// The last word is left to PlanRun, which puts the chunk there.
std::array<std::uint64_t, 4> pack(const Signature& signature) noexcept;
Signature unpack(const std::array<std::uint64_t, 4>& words) noexcept;

// "all_reduce #7 of 1000 float32 (mean, ring)", "all_reduce #8 of 99999 float32 (sum, ring, int8)"
std::string to_text(const Signature& signature);

// What a rank throws that finds a peer in another operation; `detail` follows the two.
Error mismatch(const Signature& own, const Signature& theirs, std::size_t peer,
               const std::string& detail = {});

}  // namespace rota::collectives
