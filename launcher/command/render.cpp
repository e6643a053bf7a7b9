// "rotarun render ..." is rota-manifest's, so that no other start loads what reads and writes YAML.
#include "launcher/command/render.h"

#include <rota/error.h>

#include "launcher/command/companion_path.h"
#include "os/host.h"
#include "os/process.h"

namespace rota::launcher {

bool is_render(const std::vector<std::string>& arguments) {
  return !arguments.empty() && arguments.front() == "render";
}

// People see it under our name.
void become_render(const std::vector<std::string>& arguments) {
  const std::string path = companion_path("rota-manifest");
  std::vector<std::string> words = arguments;
  words.front() = os::own_executable();
  const os::StartFailure failure = os::become_program(path, words);
  throw Error(ErrorCode::kSystem,
              "rotarun render needs " + path +
                  ", which is installed with rotarun unless it was built without: " + failure.text);
}

}  // namespace rota::launcher
