// Computes the hash of a description, and turns a signature into words, and into text for messages.
#include "collectives/description.h"

#include <functional>

#include "collectives/plan.h"

namespace rota::collectives {

std::size_t hash_of(const Description& call) noexcept {
  std::size_t hash = 0;
  const auto mix = [&]<class Member>(const Member& member) {
    hash = (hash ^ std::hash<Member>()(member)) * static_cast<std::size_t>(0x9e3779b97f4a7c15ULL);
    hash ^= hash >> (sizeof hash * 4);
  };
  std::apply([&](const auto&... member) { (mix(member), ...); }, call.members());
  return hash;
}

Signature::Signature(const Description& call, std::size_t rank) noexcept {
  const bool sends = call.collective == Collective::kSend;
  const bool receives = call.collective == Collective::kReceive;
  const Collective collective = receives ? Collective::kSend : call.collective;
  const std::size_t root = sends ? rank : call.root;
  words_[0] = static_cast<std::uint64_t>(collective) |
              static_cast<std::uint64_t>(call.algorithm) << 8 |
              static_cast<std::uint64_t>(call.type) << 16 |
              static_cast<std::uint64_t>(call.reduction.op()) << 24 |
              static_cast<std::uint64_t>(call.codec) << 28 | std::uint64_t{root} << 32;
  words_[1] = collective == Collective::kAllToAll && call.uneven ? kUneven : call.count;
}

std::string to_text(const Signature& signature) {
  std::string text(to_string(signature.collective()));
  text += " #" + std::to_string(signature.sequence());
  if (signature.collective() == Collective::kBarrier) return text;
  const bool uneven = signature.count() == Signature::kUneven;
  text += " of " + (uneven ? "parts of" : std::to_string(signature.count())) + " " +
          std::string(to_string(signature.type()));
  if (signature.collective() == Collective::kSend) {
    return text + " (by rank " + std::to_string(signature.root()) + ")";
  }
  text += " (";
  if (reduces(signature.collective())) text += std::string(to_string(signature.op())) + ", ";
  if (has_root(signature.collective())) text += "root " + std::to_string(signature.root()) + ", ";
  text += std::string(to_string(signature.algorithm()));
  if (signature.codec() != Codec::kIdentity)
    text += ", " + std::string(to_string(signature.codec()));
  return text + ")";
}

Error mismatch(const Signature& own, const Signature& theirs, std::size_t peer,
               const std::string& detail) {
  return {ErrorCode::kMismatch,
          "this rank is in " + to_text(own) + ", but rank " + std::to_string(peer) + " is in " +
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

bool is_between_two(Collective collective) noexcept {
  return collective == Collective::kSend || collective == Collective::kReceive;
}

}  // namespace rota::collectives
