// Reads a file piece by piece to make its digest.
#include "auth/file_digest.h"

#include <openssl/evp.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <vector>

#include "auth/openssl_error.h"

namespace rota::auth {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;

class Sha256 {
 public:
  Sha256() {
    if (!context_ || ::EVP_DigestInit_ex(context_.get(), ::EVP_sha256(), nullptr) != 1) {
      throw_openssl_error("SHA-256");
    }
  }

  void add(const char* bytes, std::size_t count) {
    if (::EVP_DigestUpdate(context_.get(), bytes, count) != 1) throw_openssl_error("SHA-256");
  }

  Digest finish() {
    Digest digest;
    auto* out = reinterpret_cast<unsigned char*>(digest.data());
    if (::EVP_DigestFinal_ex(context_.get(), out, nullptr) != 1) throw_openssl_error("SHA-256");
    return digest;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&::EVP_MD_CTX_free)> context_{::EVP_MD_CTX_new(),
                                                                     &::EVP_MD_CTX_free};
};

// Adds the next `bytes` bytes of the file to the digest. Returns false when the file has fewer.
bool add(std::istream& file, std::uint64_t bytes, Sha256& digest) {
  std::vector<char> piece(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kPieceBytes)));
  while (bytes > 0) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, piece.size()));
    if (!file.read(piece.data(), static_cast<std::streamsize>(count))) return false;
    digest.add(piece.data(), count);
    bytes -= count;
  }
  return true;
}

}  // namespace

std::optional<FileDigest> digest_of_ends(const std::string& path, std::size_t end_bytes) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff length = file ? std::streamoff(file.tellg()) : -1;
  if (length < 0) return std::nullopt;
  FileDigest result{.bytes = static_cast<std::uint64_t>(length)};
  Sha256 digest;
  file.seekg(0);
  const std::uint64_t head_bytes = std::min<std::uint64_t>(result.bytes, end_bytes);
  if (!add(file, head_bytes, digest)) return std::nullopt;
  const std::uint64_t tail_bytes = std::min<std::uint64_t>(result.bytes - head_bytes, end_bytes);
  file.seekg(-static_cast<std::streamoff>(tail_bytes), std::ios::end);
  if (!add(file, tail_bytes, digest)) return std::nullopt;
  result.sha256 = digest.finish();
  return result;
}

// Ends of this length cover the whole file.
std::optional<FileDigest> digest_of_file(const std::string& path) {
  return digest_of_ends(path, SIZE_MAX);
}

}  // namespace rota::auth
