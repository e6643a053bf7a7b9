// What a program or a library names as its shared libraries, read from its file.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace rota::launcher {

struct ElfNeeds {
  std::vector<std::string> libraries;  // "libmpi.so.40", in their order.
  std::vector<std::string> folders;    // Of its own, where they are looked for first.
};

// Empty where the file cannot be read, or is none of ELF with this machine's order of bytes: a
// script, or a program that is linked statically, names no library.
std::optional<ElfNeeds> read_elf_needs(const std::string& path);

}  // namespace rota::launcher
