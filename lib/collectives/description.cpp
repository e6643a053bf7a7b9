// A signature as four words, and as a sentence.
#include "collectives/description.h"

namespace rota::collectives {

std::array<std::uint64_t, 4> pack(const Signature& signature) noexcept {
  const std::uint64_t kind = static_cast<std::uint64_t>(signature.collective) |
                             static_cast<std::uint64_t>(signature.algorithm) << 8 |
                             static_cast<std::uint64_t>(signature.type) << 16 |
                             static_cast<std::uint64_t>(signature.op) << 24 |
                             static_cast<std::uint64_t>(signature.codec) << 28 |
                             static_cast<std::uint64_t>(signature.root) << 32;
  return {kind, signature.count, signature.sequence, 0};
}

Signature unpack(const std::array<std::uint64_t, 4>& words) noexcept {
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

}  // namespace rota::collectives
