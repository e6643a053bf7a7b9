// Finds companions, and turns this process into one of them.
#include "launcher/command/companions.h"

#include <filesystem>

#include <rota/error.h>

#include "os/host.h"
#include "os/process.h"

namespace rota::launcher {

std::string companion_path(const std::string& name) {
  const auto folder = std::filesystem::path(os::own_executable()).parent_path();
  std::error_code ignored;
  if (std::filesystem::exists(folder / name, ignored)) return (folder / name).string();
  return (folder.parent_path() / ROTA_LIBEXECDIR / name).string();
}

void become_companion(const std::string& name, const std::vector<std::string>& arguments,
                      const std::string& user, const std::string& installed_with) {
  const std::string path = companion_path(name);
  std::vector<std::string> words{os::own_executable()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const os::StartFailure failure = os::become_program(path, words);
  throw Error(ErrorCode::kSystem, user + " cannot start " + path + ": " + failure.text +
                                      "; this program is installed with " + installed_with);
}

bool is_render(const std::vector<std::string>& arguments) {
  return !arguments.empty() && arguments.front() == "render";
}

void become_render(const std::vector<std::string>& arguments) {
  become_companion("rota-manifest", {arguments.begin() + 1, arguments.end()}, "rotarun render",
                   "rotarun, unless rota was built without rota-manifest");
}

}  // namespace rota::launcher
