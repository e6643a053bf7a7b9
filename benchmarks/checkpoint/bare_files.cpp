// Plain calls of the system, with the checksum of the library.
#include "checkpoint/bare_files.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/crc32c.h"
#include "os/durable_file.h"
#include "os/mapped_file.h"

namespace rota::bench {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kPiece = std::size_t{1} << 20;

// `place_of` says where the bytes from `done` on go.
std::uint32_t read_all(const fs::path& folder,
                       const std::function<std::span<std::byte>(std::size_t done)>& place_of) {
  std::uint32_t sum = 0;
  std::size_t done = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const os::MappedFile file(entry.path());
    for (std::uint64_t at = 0; at < file.size();) {
      const std::span<std::byte> place = place_of(done);
      const std::size_t count = file.read(at, place);
      sum = kernels::crc32c(place.first(count), sum);
      at += count;
      done += count;
    }
  }
  return sum;
}

}  // namespace

void copy_bare(const ExampleState& state, std::span<std::byte> copy) {
  auto to = copy.begin();
  for (const auto tensor : state.tensors()) to = std::ranges::copy(tensor, to).out;
}

void write_bare(const ExampleState& state, const fs::path& folder) {
  const std::string hidden = folder / ".bare";
  os::NewFile file(hidden);
  for (const auto tensor : state.tensors()) file.append(tensor);
  file.sync();
  os::rename(hidden, folder / "bare");
  os::sync_folder(folder);
}

std::uint32_t read_through(const fs::path& folder) {
  std::vector<std::byte> block(kPiece);
  return read_all(folder, [&block](std::size_t) { return std::span(block); });
}

std::uint32_t read_into(const fs::path& folder, std::span<std::byte> to) {
  std::vector<std::byte> rest(kPiece);  // For the headers.
  return read_all(folder, [&](std::size_t done) {
    if (done >= to.size()) return std::span(rest);
    return to.subspan(done, std::min(kPiece, to.size() - done));
  });
}

}  // namespace rota::bench
