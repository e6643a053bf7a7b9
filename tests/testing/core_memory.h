// What a core file of a process would hold: its memory, without the mappings that the kernel leaves
// out.
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
  std::string name;         // Empty: the mapping has no file.
  bool is_dumped = true;    // False: its flags have "dd" (do not dump).
};

// Returns the mappings of a process that have resident pages.
std::vector<Mapping> mappings_of(pid_t pid);

// Half a key is a secret too.
inline constexpr std::size_t kHalfKeyBytes = 16;

// Returns the halves of keys that the process keeps out of core files. They are all strings of the
// mappings that are left out, except text and strings that are mostly zeros.
std::set<std::string> undumped_secrets_of(pid_t pid);

// Returns the forms in which half a key may appear: the bytes themselves, and hexadecimal digits.
std::vector<std::string> traces_of_half(const std::string& half);

// Returns the places of all traces in what a core file of the process would hold: "[heap] (rw-p) of
// PROGRAM; " for each. Empty: there is no trace.
std::string exposure_of(pid_t pid, const std::vector<std::string>& traces);

}  // namespace rota::testing
