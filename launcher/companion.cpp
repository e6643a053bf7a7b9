// For a job of several hosts, rotarun turns into rotarun-hosts, which begins again with the same
// arguments. Without this file, rotarun could run jobs on one host only.
#include <string>
#include <vector>

#include "launcher/command/companions.h"
#include "launcher/job/several_hosts.h"
#include "os/message_socket.h"

namespace rota::launcher {
namespace {

constexpr const char* kCompanion = "rotarun-hosts";
constexpr const char* kUser = "a job of several hosts";

}  // namespace

int launch_across(const Options& options, const std::vector<std::string>& arguments,
                  const Facts& /*facts*/, const cluster::Specification& /*hosts*/) {
  if (options.key_fd) os::keep_on_exec(*options.key_fd);
  become_companion(kCompanion, arguments, kUser);
}

int launch_followed(const std::vector<std::string>& arguments) {
  become_companion(kCompanion, arguments, kUser);
}

}  // namespace rota::launcher
