// Encodes the first word, and compares ranks.
#include "communicator/first_word.h"

#include <bit>

#include <rota/error.h>

#include "base/byte_stream.h"

namespace rota {
namespace {

// Every version's word begins with a text. In versions that wrote no version, it is the plan.
constexpr std::string_view kProgram = "rota ";

}  // namespace

std::string encode(const FirstWord& word) {
  base::ByteWriter out;
  out.reserve(4 * sizeof(std::uint32_t) + word.rota.size() + word.plan.size() +
              word.tuned_file.size() + word.tuned_text.size());
  out.write(word.rota);
  out.write(word.plan);
  out.write(word.tuned_file);
  out.write(word.tuned_text);
  return out.take_text();
}

std::string rota_in_first_word(std::string_view encoded) {
  base::ByteReader in(base::bytes_of(encoded));
  std::string rota = in.read_text();
  return rota.starts_with(kProgram) ? rota : "another version of rota";
}

FirstWord decode_first_word(std::string_view encoded) {
  base::ByteReader in(base::bytes_of(encoded));
  FirstWord word{.rota = in.read_text(), .plan = in.read_text()};
  word.tuned_file = in.read_text();
  word.tuned_text = in.read_text();
  return word;
}

std::string own_rota() { return std::string(kProgram) + ROTA_VERSION; }

void require_same_rota(std::size_t rank, const std::string& of_rank_0, const std::string& own) {
  if (of_rank_0 == own) return;
  throw Error(ErrorCode::kMismatch, "rank " + std::to_string(rank) + " has " + own +
                                        ", but rank 0 has " + of_rank_0 +
                                        ": link all programs with the same rota");
}

std::string own_memory_layout() {
  const bool is_little = std::endian::native == std::endian::little;
  return std::to_string(8 * sizeof(void*)) + "-bit " + (is_little ? "little" : "big") + "-endian";
}

void require_same_memory_layout(std::size_t rank, std::size_t first, const std::string& of_first,
                                const std::string& own) {
  if (of_first == own) return;
  throw Error(ErrorCode::kMismatch,
              "rank " + std::to_string(rank) + " is a " + own + " program, but rank " +
                  std::to_string(first) + " is a " + of_first +
                  " one: they cannot share memory; start rotarun with --transport tcp");
}

}  // namespace rota
