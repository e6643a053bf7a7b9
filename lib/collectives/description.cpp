// A description as a number to look it up by; a signature as four words, and as a sentence.
#include "collectives/description.h"

#include <functional>

#include "collectives/plan.h"

namespace rota::collectives {

std::size_t hash_of(const Description& call) noexcept {
  std::size_t hash = 0;
  const auto mix = [&](std::size_t word) {
    hash = (hash ^ word) * static_cast<std::size_t>(0x9e3779b97f4a7c15ULL);
    hash ^= hash >> (sizeof hash * 4);
  };
  for (const std::uint64_t word : to_words(signature_of(call, 0))) {
    mix(static_cast<std::size_t>(word));
  }
  mix(static_cast<std::size_t>(call.in_place) << 1 | static_cast<std::size_t>(call.feeds_back));
  mix(std::hash<double>()(call.reduction.factor()));
  return hash;
}

Signature signature_of(const Description& call, std::size_t rank) noexcept {
  const bool sends = call.collective == Collective::kSend;
  const bool receives = call.collective == Collective::kReceive;
  return {.collective = receives ? Collective::kSend : call.collective,
          .algorithm = call.algorithm,
          .type = call.type,
          .op = call.reduction.op(),
          .codec = call.codec,
          .root = static_cast<std::uint32_t>(sends ? rank : call.root),
          .count = call.count,
          .sequence = 0};
}

SignatureWords to_words(const Signature& signature) noexcept {
  const std::uint64_t kind = static_cast<std::uint64_t>(signature.collective) |
                             static_cast<std::uint64_t>(signature.algorithm) << 8 |
                             static_cast<std::uint64_t>(signature.type) << 16 |
                             static_cast<std::uint64_t>(signature.op) << 24 |
                             static_cast<std::uint64_t>(signature.codec) << 28 |
                             static_cast<std::uint64_t>(signature.root) << 32;
  return {kind, signature.count, signature.sequence, 0};
}

Signature from_words(const SignatureWords& words) noexcept {
  Signature signature;
  signature.collective = static_cast<Collective>(words[0] & 0xff);
  signature.algorithm = static_cast<Algorithm>(words[0] >> 8 & 0xff);
  signature.type = static_cast<DataType>(words[0] >> 16 & 0xff);
  signature.op = static_cast<ReduceOp>(words[0] >> 24 & 0xf);
  signature.codec = static_cast<Codec>(words[0] >> 28 & 0xf);
  signature.root = static_cast<std::uint32_t>(words[0] >> 32);
  signature.count = words[1];
  signature.sequence = words[2];
  return signature;
}

std::string to_text(const Signature& signature) {
  std::string text(to_string(signature.collective));
  text += " #" + std::to_string(signature.sequence);
  if (signature.collective == Collective::kBarrier) return text;
  const bool uneven = signature.count == Signature::kUneven;
  text += " of " + (uneven ? "parts of" : std::to_string(signature.count)) + " " +
          std::string(to_string(signature.type));
  if (signature.collective == Collective::kSend) {
    return text + " (by rank " + std::to_string(signature.root) + ")";
  }
  text += " (";
  if (reduces(signature.collective)) text += std::string(to_string(signature.op)) + ", ";
  if (has_root(signature.collective)) text += "root " + std::to_string(signature.root) + ", ";
  text += std::string(to_string(signature.algorithm));
  if (signature.codec != Codec::kIdentity) text += ", " + std::string(to_string(signature.codec));
  return text + ")";
}

Error mismatch(const Signature& own, const Signature& theirs, std::size_t peer,
               const std::string& detail) {
  return {ErrorCode::kMismatch,
          "this rank is in " + to_text(own) + ", rank " + std::to_string(peer) + " in " +
              to_text(theirs) + detail + ": every rank must make the same calls in the same order",
          peer};
}

std::string_view to_string(Collective collective) noexcept {
  switch (collective) {
    case Collective::kAllReduce:
      return "all_reduce";
    case Collective::kReduce:
      return "reduce";
    case Collective::kReduceScatter:
      return "reduce_scatter";
    case Collective::kAllGather:
      return "all_gather";
    case Collective::kGather:
      return "gather";
    case Collective::kScatter:
      return "scatter";
    case Collective::kAllToAll:
      return "all_to_all";
    case Collective::kBroadcast:
      return "broadcast";
    case Collective::kBarrier:
      return "barrier";
    case Collective::kSend:
      return "send";
    case Collective::kReceive:
      return "receive";
  }
  return "unknown";
}

bool reduces(Collective collective) noexcept {
  return collective == Collective::kAllReduce || collective == Collective::kReduce ||
         collective == Collective::kReduceScatter;
}

bool has_root(Collective collective) noexcept {
  return collective == Collective::kReduce || collective == Collective::kBroadcast ||
         collective == Collective::kGather || collective == Collective::kScatter;
}

}  // namespace rota::collectives
