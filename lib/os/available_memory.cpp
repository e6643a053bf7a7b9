// Reads /proc/meminfo.
#include "os/available_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "os/fd.h"

namespace rota::os {
namespace {

// Returns the number of a line such as "SwapFree:   1024 kB", in bytes.
std::optional<std::uint64_t> meminfo_bytes(std::string_view name, std::string_view text) noexcept {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(name)) continue;
    const std::size_t begin = std::min(line.find_first_not_of(' ', name.size()), line.size());
    std::uint64_t kibibytes = 0;
    const auto result = std::from_chars(line.data() + begin, line.data() + line.size(), kibibytes);
    if (result.ec != std::errc()) return std::nullopt;
    return kibibytes << 10;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_available_memory(std::string_view text) noexcept {
  const auto memory = meminfo_bytes("MemAvailable:", text);
  if (!memory) return std::nullopt;
  return *memory + meminfo_bytes("SwapFree:", text).value_or(0);
}

std::optional<std::uint64_t> available_memory_bytes() noexcept {
  const Fd file(::open("/proc/meminfo", O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::array<char, 8192> text{};
  std::size_t size = 0;
  for (ssize_t count = 1; count > 0 && size < text.size();) {
    count = ::read(file.get(), text.data() + size, text.size() - size);
    if (count > 0) size += static_cast<std::size_t>(count);
  }
  return parse_available_memory({text.data(), size});
}

}  // namespace rota::os
