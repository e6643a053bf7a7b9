// Has helpers for the tests of MPI programs: each program runs on one host, and on several hosts,
// which are network namespaces. A program may leave nothing behind.
#pragma once
#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "hosts/across_hosts.h"

namespace rota::testing {

using Slots = std::vector<std::size_t>;  // The number of ranks on each host.

// Returns the names of the MPIs for which the programs were built: "openmpi", "mpich_4_3_2".
inline std::vector<std::string> mpis() {
  std::vector<std::string> names;
  std::istringstream in(ROTA_MPIS);
  for (std::string name; std::getline(in, name, ':');) names.push_back(name);
  return names;
}

// Returns the path of a program that was built with an MPI.
inline std::string program_of(const std::string& name, const std::string& mpi) {
  return test_path("mpi_programs/" + name + "_" + mpi);
}

inline std::size_t size_of(const Slots& slots) {
  std::size_t size = 0;
  for (const std::size_t count : slots) size += count;
  return size;
}

// Returns a name for a test: "3_and_1".
inline std::string name_of(const Slots& slots) {
  std::string name;
  for (const std::size_t count : slots)
    name += (name.empty() ? "" : "_and_") + std::to_string(count);
  return name;
}

class OnWorlds : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (IsSkipped()) return;
    mount_shared_memory("size=2g");
    for (const char* name : {"tmp", "current"}) {
      std::filesystem::create_directories(folder_ + "/" + name);
    }
    environment_.push_back("TMPDIR=" + folder_ + "/tmp");
    // Each host takes all cores for its own.
    environment_.emplace_back("OMPI_MCA_mpi_yield_when_idle=1");
  }

  void TearDown() override {
    if (network_) {
      EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/tmp")) << "files were left in TMPDIR";
      EXPECT_TRUE(std::filesystem::is_empty(kSharedMemory)) << "files were left in /dev/shm";
      ::umount2(kSharedMemory, MNT_DETACH);
    }
    AcrossHosts::TearDown();
  }

  // Runs a program, after options of rotarun, on as many hosts as `slots` has. Returns the result
  // of each host.
  std::vector<Result> run_on(const Slots& slots, const std::vector<std::string>& arguments,
                             const std::string& input = "") const {
    std::vector<std::unique_ptr<Process>> all;
    for (std::size_t host = 0; host < slots.size(); ++host) {
      Command command = rotarun(arguments);
      command.environment = environment_;
      if (slots.size() > 1) {
        command.environment.push_back("ROTA_HOSTS=" + hosts(slots));
        command.environment.push_back("ROTA_KEY_FILE=" + key_file_);
      } else {
        const std::vector<std::string> options = {"-np", std::to_string(slots[0]),
                                                  "--oversubscribe"};
        command.arguments.insert(command.arguments.begin() + 1, options.begin(), options.end());
      }
      command.directory = current_folder();
      if (host == 0) command.input = input;
      all.push_back(std::make_unique<Process>(network_->on(host, std::move(command))));
    }
    std::vector<Result> results;
    results.reserve(all.size());
    for (const auto& each : all) results.push_back(each->wait());
    return results;
  }

  // Does the same. Expects that the job succeeds and says nothing about itself, and returns what
  // the program has written on all hosts.
  std::string output_on(const Slots& slots, const std::vector<std::string>& arguments,
                        const std::string& input = "") const {
    std::string text;
    for (const Result& result : run_on(slots, arguments, input)) {
      EXPECT_EQ(result.exit_code, 0) << arguments.back() << ": " << result.err;
      EXPECT_THAT(result.err, Not(HasSubstr("rotarun:"))) << arguments.back();
      text += result.out + result.err;
    }
    return text;
  }

  // Returns the current folder of all programs.
  std::string current_folder() const { return folder_ + "/current"; }

  // Gives this process and its children a shared memory of their own.
  static void mount_shared_memory(const char* options) {
    ASSERT_EQ(::unshare(CLONE_NEWNS), 0);
    ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    ASSERT_EQ(::mount("own", kSharedMemory, "tmpfs", 0, options), 0);
  }

  static constexpr const char* kSharedMemory = "/dev/shm";
};

}  // namespace rota::testing
