// Knows the names of the variables.
#include "device/environment.h"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace rota::device {

std::optional<std::string> visible_devices() {
  const char* named = std::getenv("CUDA_VISIBLE_DEVICES");
  return named ? std::optional<std::string>(named) : std::nullopt;
}

bool shares_devices() {
  const char* named = std::getenv("ROTA_SHARE_DEVICES");
  return named && std::string_view(named) == "1";
}

bool streams_share_queues() {
  constexpr int kByDefault = 8;
  const char* named = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  if (!named) return false;
  int count = 0;
  const std::string_view text(named);
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
  return parsed.ec == std::errc() && count > 0 && count < kByDefault;
}

std::string library_name() {
  const char* named = std::getenv("ROTA_CUDA_LIBRARY");
  return named && *named != '\0' ? named : "librota_cuda.so." ROTA_SOVERSION;
}

}  // namespace rota::device
