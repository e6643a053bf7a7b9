// Reads the peak memory that the kernel records.
#include "peak_memory.h"

#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

namespace rota::bench {

std::size_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    std::size_t kibibytes = 0;
    if (key == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  throw std::runtime_error("/proc/self/status has no VmHWM: is /proc mounted?");
}

}  // namespace rota::bench
