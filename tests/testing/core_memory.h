// What a core file of a process would hold: its memory, but for what the kernel leaves out of one.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace rota::testing {

struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::string permissions;  // "rw-p"
  std::string name;         // Empty where it is of no file.
  bool is_dumped = true;    // False: its flags say "dd", do not dump.
};

// Those of a process that have pages in memory.
std::vector<Mapping> mappings_of(pid_t pid);

// Half a key is a secret too.
inline constexpr std::size_t kHalfKeyBytes = 16;

// The halves of keys that the process keeps out of core files: what lies there and is neither text
// nor mostly zeros.
std::set<std::string> undumped_secrets_of(pid_t pid);

// Half a key as it may be found: as it is, and in hexadecimal digits.
std::vector<std::string> traces_of_half(const std::string& half);

// Where one of them is in what a core file of the process would hold, as "[heap] of PROGRAM"; empty
// where none is.
std::string exposure_of(pid_t pid, const std::vector<std::string>& traces);

}  // namespace rota::testing
