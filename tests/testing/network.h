// Hosts that are network namespaces, joined by a switch that is one more. They have no names and no
// files, and vanish with the processes that hold them, which end with this one.
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
  // Why there can be none here; empty where there can.
  static std::optional<std::string> obstacle();

  // Requires that there is no obstacle. Throws std::runtime_error where one shows all the same.
  explicit Network(std::size_t host_count);

  std::size_t host_count() const noexcept { return hosts_.size(); }
  std::string address(std::size_t host) const;  // "10.77.0.1"

  // The command, to be run on that host.
  Command on(std::size_t host, Command command) const;

  // Words that run a command there: "nsenter … --".
  std::string command_prefix(std::size_t host) const;

  // Does it as that host would: a socket that it makes is and stays one of that host's.
  void act_on(std::size_t host, const std::function<void()>& act) const;

  // Runs a script there.
  void configure(std::size_t host, const std::string& script) const;

  // What the host may send, such as "1gbit".
  void limit_rate(std::size_t host, const std::string& rate);

  // Pulls the host's plug; packets vanish from then on, in both directions.
  void cut(std::size_t host);

 private:
  std::unique_ptr<Process> hold() const;
  void configure(const Process& space, const std::string& script) const;

  std::unique_ptr<Process> switch_;
  std::vector<std::unique_ptr<Process>> hosts_;
};

}  // namespace rota::testing
