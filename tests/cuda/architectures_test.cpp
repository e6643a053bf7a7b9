// librota_cuda.so has machine code for each GPU that the build names, and PTX where the build says
// so. Method: reads the headers of the kernels' binaries ("fat binaries") in the library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cuda/library_file.h"

namespace rota {
namespace {

// Before all code of one source.
struct FatHeader {
  static constexpr std::uint32_t kMagic = 0xba55'ed50;
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t bytes;  // Behind this header.
};

// Before the code for one GPU.
struct CodeHeader {
  static constexpr std::uint16_t kPtx = 1;
  static constexpr std::uint16_t kMachineCode = 2;
  std::uint16_t kind;
  std::uint16_t unknown;
  std::uint32_t header_bytes;
  std::uint64_t bytes;  // Behind this header.
  std::uint32_t more[3];
  std::uint32_t architecture;  // Such as 90.
};

using Codes = std::set<std::string>;  // "90": machine code; "90 PTX".

template <class Header>
Header header_at(const std::vector<char>& file, std::size_t at) {
  Header header{};
  if (at + sizeof header <= file.size()) std::memcpy(&header, file.data() + at, sizeof header);
  return header;
}

Codes codes_between(const std::vector<char>& file, std::size_t at, std::size_t end) {
  Codes codes;
  while (at < end) {
    const auto code = header_at<CodeHeader>(file, at);
    if (code.header_bytes == 0) break;
    codes.insert(std::to_string(code.architecture) + (code.kind == CodeHeader::kPtx ? " PTX" : ""));
    at += code.header_bytes + code.bytes;
  }
  return codes;
}

// Returns the codes of each source.
std::vector<Codes> codes_in(const std::vector<char>& file) {
  std::vector<Codes> all;
  for (std::size_t at = 0; at + sizeof(FatHeader) <= file.size(); at += sizeof(std::uint64_t)) {
    const auto fat = header_at<FatHeader>(file, at);
    if (fat.magic != FatHeader::kMagic || fat.header_bytes != sizeof(FatHeader)) continue;
    const std::size_t begin = at + fat.header_bytes;
    all.push_back(codes_between(file, begin, std::min(file.size(), begin + fat.bytes)));
  }
  return all;
}

// `named` is as in CMAKE_CUDA_ARCHITECTURES, with spaces: "80-real 90".
Codes codes_of(const std::string& named) {
  Codes codes;
  std::istringstream words(named);
  for (std::string word; words >> word;) {
    const std::string number = word.substr(0, word.find('-'));
    if (!word.ends_with("-virtual")) codes.insert(number);
    if (!word.ends_with("-real")) codes.insert(number + " PTX");
  }
  return codes;
}

TEST(CudaArchitectures, AreThoseThatTheBuildNames) {
  std::ifstream stream(testing::cuda_library_file(), std::ios::binary);
  const std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
  const auto found = codes_in(file);
  EXPECT_GE(found.size(), 6U);  // Sources with kernels.
  for (const Codes& codes : found) EXPECT_EQ(codes, codes_of(ROTA_CUDA_ARCHITECTURES));
}

TEST(CudaArchitectures, AreReadAsCmakeReadsThem) {
  EXPECT_EQ(codes_of("75-real 90 100-virtual"), (Codes{"75", "90", "90 PTX", "100 PTX"}));
}

}  // namespace
}  // namespace rota
