// In rotarun: turns into rotarun-hosts, which does all anew with the same arguments.
#include <string>
#include <vector>

#include <rota/error.h>

#include "launcher/command/companion_path.h"
#include "launcher/job/several_hosts.h"
#include "os/host.h"
#include "os/message_socket.h"
#include "os/process.h"

namespace rota::launcher {
namespace {

constexpr const char* kCompanion = "rotarun-hosts";

// People see it under our name.
[[noreturn]] void become_companion(std::vector<std::string> arguments) {
  const std::string path = companion_path(kCompanion);
  arguments.insert(arguments.begin(), os::own_executable());
  const os::StartFailure failure = os::become_program(path, arguments);
  throw Error(ErrorCode::kSystem, "a job of several hosts needs " + path +
                                      ", which is installed with rotarun: " + failure.text);
}

}  // namespace

int launch_across(const Options& options, const std::vector<std::string>& arguments,
                  const Facts& /*facts*/, const cluster::Specification& /*hosts*/) {
  if (options.key_fd) os::keep_on_exec(*options.key_fd);
  become_companion(arguments);
}

int launch_followed(const std::vector<std::string>& arguments) { become_companion(arguments); }

}  // namespace rota::launcher
