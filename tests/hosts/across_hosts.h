// Has helpers for the tests of rotarun on several hosts, which are network namespaces.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "testing/key_text.h"
#include "testing/network.h"
#include "testing/paths.h"
#include "testing/process.h"

namespace rota::testing {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// For a rank that is a shell: prints "inner " and the process id of the inner process of its
// rotarun. That process is the parent of the rank's keeper.
inline const std::string kSayInner =
    "read -r _ _ _ inner _ < /proc/$PPID/stat; echo inner $inner; ";

class AcrossHosts : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto obstacle = Network::obstacle()) GTEST_SKIP() << *obstacle;
    folder_ = ::testing::TempDir() + "across_hosts_" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
    network_ = std::make_unique<Network>(3);
    key_file_ = write_key("key", key_text('k'));
  }
  void TearDown() override {
    network_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  std::string write_key(const std::string& name, const std::string& key) const {
    std::string path = folder_ + "/" + name;
    std::ofstream(path) << key;
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    return path;
  }

  // Returns the number of slots on each host: "10.77.0.1:2,10.77.0.2:1,…".
  std::string hosts(const std::vector<std::size_t>& slots) const {
    std::string text;
    for (std::size_t host = 0; host < slots.size(); ++host) {
      text += (host == 0 ? "" : ",") + network_->address(host) + ":" + std::to_string(slots[host]);
    }
    return text;
  }

  // Starts rotarun on one host, with the environment that all hosts get.
  std::unique_ptr<Process> start(std::size_t host, std::vector<std::string> arguments) const {
    Command command = rotarun(std::move(arguments));
    command.environment = environment_;
    command.environment.push_back("ROTA_KEY_FILE=" + key_file_);
    return std::make_unique<Process>(network_->on(host, std::move(command)));
  }

  // Starts the same command on every host.
  std::vector<std::unique_ptr<Process>> start_all(const std::vector<std::string>& arguments) const {
    std::vector<std::unique_ptr<Process>> all;
    for (std::size_t host = 0; host < network_->host_count(); ++host) {
      all.push_back(start(host, arguments));
    }
    return all;
  }

  // Writes a program for --agent. The program runs a command on the host with the given address.
  std::string write_agent() const {
    std::string script = "#!/bin/sh\nhost=$1; shift\ncase $host in\n";
    for (std::size_t host = 0; host < network_->host_count(); ++host) {
      script +=
          network_->address(host) + ") exec " + network_->command_prefix(host) + " \"$@\" ;;\n";
    }
    return write_script("agent", script + "*) echo \"no way to $host\" >&2; exit 255 ;;\nesac\n");
  }

  // Writes a script that can be run. Returns its path.
  std::string write_script(const std::string& name, const std::string& script) const {
    std::string path = folder_ + "/" + name;
    std::ofstream(path) << script;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  static std::string rank_program() { return test_path("sum_rank"); }

  std::string folder_;
  std::string key_file_;
  std::unique_ptr<Network> network_;
  std::vector<std::string> environment_;
};

}  // namespace rota::testing
