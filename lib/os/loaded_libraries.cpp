// Asks the dynamic linker for the names of what it has loaded.
#include "os/loaded_libraries.h"

#include <link.h>

namespace rota::os {
namespace {

// The program itself has an empty name.
int note_path(dl_phdr_info* info, std::size_t, void* paths) {
  const std::string path = info->dlpi_name ? info->dlpi_name : "";
  if (!path.empty()) static_cast<std::vector<std::string>*>(paths)->push_back(path);
  return 0;
}

}  // namespace

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  ::dl_iterate_phdr(note_path, &paths);
  return paths;
}

}  // namespace rota::os
