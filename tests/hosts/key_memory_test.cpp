// No core file of a job contains a key. Method: core files leave out the pages that hold keys, and
// the bytes of the keys must not occur anywhere else in the job's processes. The test does not
// search for OpenSSL's own keys of single connections.
#include <csignal>
#include <iterator>
#include <map>
#include <set>

#include "auth/key.h"
#include "hosts/across_hosts.h"
#include "hosts/attacks.h"
#include "testing/core_memory.h"
#include "testing/proc.h"

namespace rota::testing {
namespace {

const std::vector<std::size_t> kSlotsOfJob = {2, 2, 1};
const std::string kMarker = "MARKED=so that a core file is known to have the stack";

struct OfJob {
  std::vector<pid_t> ranks;
  std::vector<pid_t> launchers;  // All processes of each rotarun, with keepers.
};

OfJob live_processes() {
  OfJob processes;
  for (const pid_t pid : live_descendants()) {
    const std::string program = proc_file(pid, "cmdline");
    if (program.starts_with(test_path("sum_rank"))) processes.ranks.push_back(pid);
    if (program.starts_with(rotarun_path())) processes.launchers.push_back(pid);
  }
  return processes;
}

std::set<std::string> halves_of(const std::vector<std::string>& keys) {
  std::set<std::string> halves;
  for (const std::string& key : keys) {
    halves.insert({key.substr(0, kHalfKeyBytes), key.substr(kHalfKeyBytes, kHalfKeyBytes)});
  }
  return halves;
}

std::vector<std::string> traces_of_secrets(const std::set<std::string>& secrets) {
  std::vector<std::string> traces;
  for (const std::string& secret : secrets) {
    for (std::string& trace : traces_of_half(secret)) traces.push_back(std::move(trace));
  }
  return traces;
}

// Expects that no process exposes a key. Each rank holds keys, and so does one process of each
// rotarun. The search also covers the keys in `known`.
void expect_hidden(std::size_t rank_count, const std::vector<std::string>& known) {
  const OfJob processes = live_processes();
  ASSERT_EQ(processes.ranks.size(), rank_count);
  std::set<std::string> secrets = halves_of(known);
  for (const pid_t pid : processes.ranks) {
    const auto own = undumped_secrets_of(pid);
    EXPECT_FALSE(own.empty()) << "a rank has no key";
    secrets.insert(own.begin(), own.end());
  }
  std::size_t holders = 0;
  for (const pid_t pid : processes.launchers) {
    const auto own = undumped_secrets_of(pid);
    holders += own.empty() ? 0 : 1;
    secrets.insert(own.begin(), own.end());
  }
  EXPECT_GE(holders, 1U);
  const std::vector<std::string> traces = traces_of_secrets(secrets);
  for (const auto* all : {&processes.ranks, &processes.launchers}) {
    for (const pid_t pid : *all) EXPECT_EQ(exposure_of(pid, traces), "");
  }
}

class KeyMemoryTest : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (!network_) return;
    key_ = key_text('m', auth::kKeyBytes);
    key_file_ = write_key("secret", key_);
    environment_ = {"ROTA_HOSTS=" + hosts(kSlotsOfJob), "ROUNDS=3000"};
  }

  std::string job_key() const {
    const std::string job_id = host_plan_of(*network_, kSlotsOfJob).job_id;
    const auth::Key key = auth::job_key(std::as_bytes(std::span(key_)), job_id);
    return {reinterpret_cast<const char*>(key.bytes().data()), key.bytes().size()};
  }

  void expect_hidden_while_it_runs(const std::vector<std::string>& arguments) {
    const auto all = start_all(arguments);
    for (const auto& each : all) ASSERT_TRUE(each->wait_for("sum 15"));
    std::size_t holders = 0;
    for (const pid_t pid : live_processes().launchers) {
      holders += undumped_secrets_of(pid).contains(job_key().substr(kHalfKeyBytes)) ? 1 : 0;
    }
    EXPECT_GE(holders, all.size());
    expect_hidden(5, {key_, job_key()});
    for (const auto& each : all) each->signal(SIGTERM);
    for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 143);
  }

  std::string key_;
};

// Without this test, a search that never finds anything would also pass.
TEST(KeyMemorySearch, FindsWhatACoreFileHas) {
  const auto traces = traces_of_secrets(halves_of({key_text('f', auth::kKeyBytes)}));
  for (const std::string& trace : traces) {
    Process exposed({.arguments = {"/bin/sh", "-c", "echo ready; kill -STOP $$"},
                     .environment = {"SECRET=" + trace}});
    ASSERT_TRUE(exposed.wait_for("ready"));
    EXPECT_THAT(exposure_of(exposed.pid(), traces), HasSubstr("[stack]"));
  }
}

TEST_F(KeyMemoryTest, HasTheKeyOfAFileWhereNoCoreFileHasIt) {
  expect_hidden_while_it_runs({rank_program()});
}

TEST_F(KeyMemoryTest, HasItWhereRanksEncryptToo) {
  expect_hidden_while_it_runs({"--encrypt", rank_program()});
}

TEST_F(KeyMemoryTest, HasTheKeyOfADescriptorThereToo) {
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t host = 0; host < network_->host_count(); ++host) {
    Command command{.arguments = {"/bin/sh", "-c",
                                  "exec " + rotarun_path() + " --key-fd 7 " + rank_program() +
                                      " 7< '" + key_file_ + "'"},
                    .environment = environment_};
    all.push_back(std::make_unique<Process>(network_->on(host, std::move(command))));
  }
  for (const auto& each : all) ASSERT_TRUE(each->wait_for("sum 15"));
  expect_hidden(5, {key_, job_key()});
  for (const auto& each : all) each->signal(SIGTERM);
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 143);
}

// rotarun on host 0 makes the key, and an agent carries it to the other hosts.
TEST_F(KeyMemoryTest, HasTheKeyOfOrdersThereToo) {
  Command command = rotarun({"-H", hosts(kSlotsOfJob), "--agent", write_agent() + " {host}", "-x",
                             "ROUNDS", rank_program()});
  command.environment = {"ROUNDS=3000"};
  Process leader(network_->on(0, std::move(command)));
  ASSERT_TRUE(leader.wait_for("rank 4 of 5"));
  expect_hidden(5, {});
  leader.signal(SIGTERM);
  EXPECT_EQ(leader.wait().exit_code, 143);
}

class KeyMemoryOfOneHost : public ::testing::Test {
 protected:
  KeyMemoryOfOneHost()
      : folder_(::testing::TempDir() + "key_memory_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~KeyMemoryOfOneHost() override { std::filesystem::remove_all(folder_); }

  // Starts two ranks over TCP. Core files of the ranks and of rotarun go to folder_.
  std::unique_ptr<Process> start() const {
    return std::make_unique<Process>(
        Command{.arguments = {"/bin/sh", "-c",
                              "ulimit -c unlimited; exec " + rotarun_path() +
                                  " -np 2 --transport tcp " + test_path("sum_rank")},
                .environment = {"ROUNDS=3000", kMarker},
                .directory = folder_});
  }

  // Returns the content of the core file, whatever the name of the file is.
  std::string core_file() const {
    std::string bytes;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      std::ifstream file(entry.path(), std::ios::binary);
      bytes.append(std::istreambuf_iterator<char>(file), {});
      std::filesystem::remove(entry);
    }
    return bytes;
  }

  std::string folder_;
};

TEST_F(KeyMemoryOfOneHost, HasTheKeyOfTheDataWhereNoCoreFileHasIt) {
  const auto job = start();
  ASSERT_TRUE(job->wait_for("sum 3"));
  expect_hidden(2, {});
  job->signal(SIGTERM);
  EXPECT_EQ(job->wait().exit_code, 143);
}

TEST_F(KeyMemoryOfOneHost, IsInNoRealCoreFile) {
#if defined(ROTA_IS_SANITIZED)
  GTEST_SKIP() << "a sanitizer lets a process write no core file";
#endif
  std::string pattern;
  std::getline(std::ifstream("/proc/sys/kernel/core_pattern"), pattern);
  if (pattern.find_first_of("|/") != std::string::npos) {
    GTEST_SKIP() << "core files do not come to where a process runs: " << pattern;
  }
  for (const bool is_rank : {true, false}) {
    const auto job = start();
    ASSERT_TRUE(job->wait_for("sum 3"));
    std::map<pid_t, std::set<std::string>> holders;
    const OfJob processes = live_processes();
    for (const pid_t pid : is_rank ? processes.ranks : processes.launchers) {
      auto secrets = undumped_secrets_of(pid);
      if (!secrets.empty()) holders[pid] = std::move(secrets);
    }
    ASSERT_FALSE(holders.empty());
    const auto& [pid, secrets] = *holders.begin();
    ::kill(pid, SIGABRT);
    job->wait();
    const std::string core = core_file();
    ASSERT_THAT(core.find(kMarker), ::testing::Ne(std::string::npos)) << core.size();
    for (const std::string& trace : traces_of_secrets(secrets)) {
      EXPECT_EQ(core.find(trace), std::string::npos) << (is_rank ? "a rank's" : "rotarun's");
    }
  }
}

}  // namespace
}  // namespace rota::testing
