// Hosts that are network namespaces. A further namespace is the switch that joins them. The hosts
// have no names and no files. They vanish with the processes that keep them alive, and these
// processes end with this one.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testing/process.h"

namespace rota::testing {

class Network {
 public:
  // Returns why this machine cannot make such hosts; empty if it can.
  static std::optional<std::string> obstacle();

  // Requires obstacle() to be empty. Throws std::runtime_error if the hosts still cannot be made.
  explicit Network(std::size_t host_count);

  std::size_t host_count() const noexcept { return hosts_.size(); }
  std::string address(std::size_t host) const;  // "10.77.0.1"

  // Returns the same command, changed to run on that host.
  Command on(std::size_t host, Command command) const;

  // Returns the words to put before a command, so that it runs on that host: "nsenter … --".
  std::string command_prefix(std::size_t host) const;

  // Runs `act` in the host's namespace. A socket made by `act` stays in that namespace.
  void act_on(std::size_t host, const std::function<void()>& act) const;

  // Runs a script on the host.
  void configure(std::size_t host, const std::string& script) const;

  // Limits the rate at which the host may send, such as to "1gbit".
  void limit_rate(std::size_t host, const std::string& rate);

  // Disconnects the host: from now on packets vanish in both directions.
  void cut(std::size_t host);

 private:
  std::unique_ptr<Process> hold() const;
  void configure(const Process& space, const std::string& script) const;

  std::unique_ptr<Process> switch_;
  std::vector<std::unique_ptr<Process>> hosts_;
};

}  // namespace rota::testing
