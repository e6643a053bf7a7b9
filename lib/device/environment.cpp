// Knows the names of the variables.
#include "device/environment.h"

#include <cstdlib>
#include <string_view>

namespace rota::device {

std::optional<std::string> visible_devices() {
  const char* named = std::getenv("CUDA_VISIBLE_DEVICES");
  return named ? std::optional<std::string>(named) : std::nullopt;
}

bool shares_devices() {
  const char* named = std::getenv("ROTA_SHARE_DEVICES");
  return named && std::string_view(named) == "1";
}

std::string library_name() {
  const char* named = std::getenv("ROTA_CUDA_LIBRARY");
  return named && *named != '\0' ? named : "librota_cuda.so." ROTA_SOVERSION;
}

}  // namespace rota::device
