// Where the programs lie that rotarun becomes or starts, and people do not.
#include "launcher/command/companion_path.h"

#include <filesystem>

#include "os/host.h"

namespace rota::launcher {

std::string companion_path(const std::string& name) {
  const auto folder = std::filesystem::path(os::own_executable()).parent_path();
  std::error_code ignored;
  if (std::filesystem::exists(folder / name, ignored)) return (folder / name).string();
  return (folder.parent_path() / ROTA_LIBEXECDIR / name).string();
}

}  // namespace rota::launcher
