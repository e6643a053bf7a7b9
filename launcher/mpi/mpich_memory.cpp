// Finds the shared memory of MPICH 5 by its name, without which killed ranks would fill /dev/shm.
#include "launcher/mpi/mpich_memory.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

namespace rota::launcher {
namespace {

constexpr const char* kPlace = "/dev/shm";

// Returns the digits by which MPICH names a world: its 32-bit FNV-1a hash.
std::string digits_of(std::string_view world_name) {
  std::uint32_t hash = 2'166'136'261U;
  for (const char letter : world_name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 16'777'619U;
  }
  char digits[9];
  std::snprintf(digits, sizeof digits, "%x", hash);
  return digits;
}

}  // namespace

void remove_mpich_memory(std::string_view world_name) {
  const std::string digits = digits_of(world_name);
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry(kPlace, ignored), end; entry != end;
       entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    const bool is_of_world = name.starts_with("mpich_shm_" + digits + "_") ||
                             name.starts_with("mpich_vci_" + digits + "_");
    if (is_of_world) std::filesystem::remove(entry->path(), ignored);
  }
}

}  // namespace rota::launcher
