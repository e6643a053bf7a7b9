// What rotarun starts on other hosts is any program, which reads its orders when it likes, or
// never.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "launcher/launched.h"

namespace rota::launcher {
namespace {

class AgentsStart : public Launched {
 protected:
  // A script that is the agent of one host, which never comes.
  std::string agent(const std::string& text) const {
    std::string path = folder_ + "/agent";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  // This host's address is given, so that nobody asks for a way to the other.
  static Process start(const std::string& agent, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"-H",      "192.0.2.1", "--address", "127.0.0.1",
                                          "--agent", agent,       "--ports",   "46100-46199"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.emplace_back("true");
    return Process(rotarun(std::move(arguments)));
  }

  std::string text_of(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Until the file is there and has so many bytes.
  bool grows_to(const std::string& name, std::size_t bytes) const {
    const auto end = std::chrono::steady_clock::now() + seconds(30);
    while (text_of(name).size() < bytes) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return true;
  }
};

// More than a pipe holds, for one that does not read at once.
const std::string kLong(100 * 1024, 'x');

TEST_F(AgentsStart, MayBeAProgramThatWaitsForItsInput) {
  const std::string script =
      agent("sleep 0.3; cat >" + folder_ + "/orders 2>" + folder_ + "/trouble");
  Process job = start(script, {"-x", "LONG=" + kLong, "-x", "SECOND=" + kLong});
  EXPECT_TRUE(grows_to("orders", 2 * kLong.size()));
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait().exit_code, 143) << job.err();
  EXPECT_EQ(text_of("trouble"), "");
}

TEST_F(AgentsStart, HoldUpNoSignalWhereTheyNeverRead) {
  const std::string script =
      agent("touch " + folder_ + "/there; echo x >" + folder_ + "/there; exec sleep 1000");
  Process job = start(script, {"-x", "LONG=" + kLong});
  EXPECT_TRUE(grows_to("there", 1));
  const auto begin = std::chrono::steady_clock::now();
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait().exit_code, 143) << job.err();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
}

// Method: nobody comes, so that the job is over; the agent goes on all the same.
TEST_F(AgentsStart, AreNotWaitedForByWhoAsksForTheEndMeanwhile) {
  Process job = start(agent("exec sleep 1000"), {"--join-timeout", "0.5"});
  EXPECT_TRUE(job.wait_for("(--join-timeout)"));
  const auto begin = std::chrono::steady_clock::now();
  job.signal(SIGTERM);
  EXPECT_NE(job.wait().exit_code, 0) << job.err();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(4));
}

}  // namespace
}  // namespace rota::launcher
