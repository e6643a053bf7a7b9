// A training run that is killed and started again ends with the bits of a run that nobody touched.
// Method: mnist saves a checkpoint every few steps, so most kills hit a save. A rank, rank 0 or
// rotarun gets SIGKILL at a random time, twice in each trial, and then the run is resumed to its
// end. ROTA_KILLS sets the number of trials, and ROTA_KILL_SEED their seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "mnist/few_images.h"
#include "testing/paths.h"
#include "testing/process.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

using nlohmann::json;
using testing::Process;
using testing::Result;
using testing::TemporaryFolder;
using Arguments = std::vector<std::string>;

std::uint64_t number_from_environment(const char* name, std::uint64_t usual) {
  const char* text = std::getenv(name);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

// Returns the last line of an event, or nothing if there is none.
std::optional<json> last_event(const std::string& out, const std::string& event) {
  std::optional<json> found;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    const json value = json::parse(line, nullptr, false);
    if (value.is_object() && value.value("event", "") == event) found = value;
  }
  return found;
}

std::string name_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::vector<pid_t> ranks() {
  std::vector<pid_t> pids;
  for (const pid_t pid : testing::live_descendants()) {
    if (name_of(pid) == "mnist") pids.push_back(pid);
  }
  return pids;
}

class Killed : public ::testing::Test {
 protected:
  Killed() : random_(number_from_environment("ROTA_KILL_SEED", 1)) {
    testing::adopt_orphans();
    testing::write_few_images(data_, 2000, 200);
  }

  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::string one_of(const std::vector<std::string>& names) { return names[below(names.size())]; }

  // Draws a world, a transport, a codec and an optimizer.
  Arguments draw_job() {
    const std::string ranks = one_of({"1", "2", "3", "5"});
    const bool is_mirrored = below(4) == 0;
    Arguments job = {"-np",
                     is_mirrored ? "2" : ranks,
                     "--transport",
                     one_of({"shm", "tcp"}),
                     testing::bin_path("mnist"),
                     "--data",
                     data_.path().string(),
                     "--json",
                     "--model",
                     "seed",
                     "--batch-size",
                     "20",
                     "--epochs",
                     "6",
                     "--codec",
                     one_of({"identity", "bf16", "fp16", "int8", "int8-stochastic", "top-k"}),
                     "--optimizer",
                     one_of({"sgd", "adam"})};
    if (job.back() == "sgd") job.insert(job.end(), {"--momentum", "0.9"});
    if (is_mirrored) job.insert(job.end(), {"--replicas", "2"});
    return job;
  }

  // Returns the hash with which an undisturbed run ends. Sets duration_.
  std::string hash_of(const Arguments& job) {
    const auto start = std::chrono::steady_clock::now();
    const Result result = testing::run_rotarun(job);
    duration_ = std::chrono::steady_clock::now() - start;
    const auto done = last_event(result.out, "done");
    EXPECT_TRUE(done) << result.err;
    return done ? (*done)["weights_hash"] : "";
  }

  // Kills the job at a random time. Returns what the job printed.
  std::string run_and_kill(const Arguments& job) {
    Process process(testing::rotarun(job));
    std::this_thread::sleep_for(duration_ * below(1000) / 1000);
    const std::vector<pid_t> members = ranks();
    const std::size_t choice = below(3);
    if (choice == 0 || members.empty()) {
      process.signal(SIGKILL);
    } else {
      ::kill(choice == 1 ? members.front() : members[below(members.size())], SIGKILL);
    }
    process.wait();
    testing::all_gone_within(std::chrono::seconds(20));
    return process.out();
  }

  TemporaryFolder data_;
  std::mt19937_64 random_;
  std::chrono::nanoseconds duration_{0};  // Of a run that nobody touches.
};

TEST_F(Killed, RunsEndWithTheBitsOfARunThatNobodyTouched) {
  const std::uint64_t trials = number_from_environment("ROTA_KILLS", 20);
  std::size_t resumed = 0;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    TemporaryFolder folder;
    const Arguments job = draw_job();
    std::string text;
    for (const std::string& word : job) text += word + " ";
    SCOPED_TRACE("trial " + std::to_string(trial) + ": " + text);
    const std::string expected = hash_of(job);
    Arguments saving = job;
    saving.insert(saving.end(), {"--checkpoint-dir", (folder.path() / "run").string(),
                                 "--checkpoint-every", "5"});
    std::optional<json> done;
    for (int kills = 0; kills < 2 && !done; ++kills) {
      const std::string out = run_and_kill(saving);
      if (last_event(out, "restored")) ++resumed;
      done = last_event(out, "done");
    }
    if (!done) {
      const Result result = testing::run_rotarun(saving);
      if (last_event(result.out, "restored")) ++resumed;
      done = last_event(result.out, "done");
      ASSERT_TRUE(done) << result.err << result.out;
    }
    ASSERT_EQ((*done)["weights_hash"], expected);
  }
  std::cout << trials << " trials, resumed " << resumed << " times\n";
  EXPECT_GE(resumed, trials / 2);  // Otherwise the kills came too early or too late.
}

}  // namespace
}  // namespace rota
