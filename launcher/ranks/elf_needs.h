// Reads which shared libraries a program or a library names in its file. From the names of the
// libraries, rotarun recognizes an MPI program before it starts the program.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace rota::launcher {

struct ElfNeeds {
  std::vector<std::string> libraries;  // "libmpi.so.40", in the file's order.
  std::vector<std::string> folders;    // Folders that the file names, searched first.
};

// Returns nothing if the file cannot be read, or is not an ELF file in this machine's byte order,
// such as a script. A statically linked program names no library.
std::optional<ElfNeeds> read_elf_needs(const std::string& path);

}  // namespace rota::launcher
