// Keeps each namespace alive by a process that does nothing else.
#include "testing/network.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <exception>
#include <stdexcept>
#include <thread>

#include "os/fd.h"

namespace rota::testing {
namespace {

const std::string kUnshare = "/usr/bin/unshare";
const std::string kEnter = "/usr/bin/nsenter";

std::string port_of(std::size_t host) { return "port" + std::to_string(host); }

Command shell(const std::string& script) { return {.arguments = {"/bin/sh", "-ec", script}}; }

}  // namespace

std::optional<std::string> Network::obstacle() {
  if (::geteuid() != 0) return "network namespaces need root";
  const Result tried = run(
      {.arguments = {
           kUnshare, "--net", "/bin/sh", "-ec",
           "ip link add name one type veth peer name two; ip link add name three type bridge"}});
  if (tried.exit_code == 0) return std::nullopt;
  return "no network namespaces with veth and bridge here: " + tried.err;
}

Network::Network(std::size_t host_count) : switch_(hold()) {
  configure(*switch_, "ip link add name bridge type bridge; ip link set bridge up");
  for (std::size_t host = 0; host < host_count; ++host) {
    hosts_.push_back(hold());
    const std::string port = port_of(host);
    configure(*hosts_[host], "ip link set lo up; ip link add name eth0 type veth peer name " +
                                 port + " netns " + std::to_string(switch_->pid()) +
                                 "; ip addr add " + address(host) +
                                 "/24 dev eth0; ip link set eth0 up");
    configure(*switch_, "ip link set " + port + " master bridge up");
  }
}

std::string Network::address(std::size_t host) const {
  return "10.77.0." + std::to_string(host + 1);
}

Command Network::on(std::size_t host, Command command) const {
  std::vector<std::string> arguments = {kEnter, "--target", std::to_string(hosts_[host]->pid()),
                                        "--net", "--"};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  command.arguments = std::move(arguments);
  return command;
}

std::string Network::command_prefix(std::size_t host) const {
  return kEnter + " --target " + std::to_string(hosts_[host]->pid()) + " --net --";
}

// Namespaces belong to threads, so a new thread enters the host's namespace.
void Network::act_on(std::size_t host, const std::function<void()>& act) const {
  const std::string path = "/proc/" + std::to_string(hosts_[host]->pid()) + "/ns/net";
  std::exception_ptr failure;
  std::thread([&] {
    try {
      const os::Fd space(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      if (::setns(space.get(), CLONE_NEWNET) != 0) throw std::runtime_error("setns: " + path);
      act();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

void Network::configure(std::size_t host, const std::string& script) const {
  configure(*hosts_[host], script);
}

void Network::limit_rate(std::size_t host, const std::string& rate) {
  configure(*hosts_[host],
            "tc qdisc add dev eth0 root tbf rate " + rate + " burst 128kb latency 50ms");
}

void Network::cut(std::size_t host) {
  configure(*switch_, "ip link set " + port_of(host) + " down");
}

std::unique_ptr<Process> Network::hold() const {
  auto process = std::make_unique<Process>(
      Command{.arguments = {kUnshare, "--net", "/bin/sh", "-c", "echo ready; exec sleep 1000000"}});
  if (!process->wait_for("ready"))
    throw std::runtime_error("no network namespace: " + process->err());
  return process;
}

void Network::configure(const Process& space, const std::string& script) const {
  Command command = shell(script);
  command.arguments.insert(command.arguments.begin(),
                           {kEnter, "--target", std::to_string(space.pid()), "--net", "--"});
  const Result result = run(std::move(command));
  if (result.exit_code != 0) throw std::runtime_error(script + ": " + result.err);
}

}  // namespace rota::testing
