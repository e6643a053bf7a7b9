// A key from a descriptor (--key-fd) works like a key from a file, and no other process gets it.
#include <csignal>

#include "hosts/across_hosts.h"
#include "testing/proc.h"

namespace rota::testing {
namespace {

const std::string kKey = key_text('k');

class KeyFdTest : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (!network_) return;
    key_file_ = folder_ + "/nowhere";  // No file is there to read.
    environment_ = {"ROTA_HOSTS=" + hosts({1, 1})};
    says_descriptors_ = folder_ + "/rank";
    std::ofstream(says_descriptors_) << "#!/bin/sh\nls -l /proc/$$/fd\necho said\n$1\n";
    std::filesystem::permissions(says_descriptors_, std::filesystem::perms::owner_all);
  }

  // Starts rotarun from a shell that opens descriptor 7.
  std::unique_ptr<Process> start_with(std::size_t host, const std::string& arguments,
                                      const std::string& redirection) const {
    Command command{.arguments = {"/bin/bash", "-c",
                                  "exec " + rotarun_path() + " " + arguments + " " + redirection},
                    .environment = environment_};
    command.environment.push_back("ROTA_KEY_FILE=" + key_file_);
    return std::make_unique<Process>(network_->on(host, std::move(command)));
  }

  std::string from_pipe(const std::string& key) const { return "7< <(printf %s " + key + ")"; }

  std::string says_descriptors_;  // A rank that lists the targets of its descriptors.
};

TEST_F(KeyFdTest, MayBeAPipeOrAFile) {
  const std::string file = write_key("by descriptor", kKey);
  const auto first = start_with(0, "--key-fd 7 " + rank_program(), from_pipe(kKey));
  const auto second = start_with(1, "--key-fd 7 " + rank_program(), "7< '" + file + "'");
  for (const auto* each : {&first, &second}) {
    const Result result = (*each)->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("sum 3"));
  }
}

// While the job runs, the launcher itself has closed the descriptor, too.
TEST_F(KeyFdTest, IsNobodysAfterwards) {
  const std::string file = write_key("by-descriptor", kKey);
  const std::string rank = says_descriptors_ + " 'exec sleep 100'";
  std::vector<std::unique_ptr<Process>> all;
  for (const std::size_t host : {0, 1}) {
    all.push_back(start_with(host, "--key-fd 7 " + rank, "7< " + file));
  }
  for (const auto& each : all) ASSERT_TRUE(each->wait_for("said"));
  std::size_t looked_at = 0;
  for (const pid_t pid : live_descendants()) {
    for (const std::string& target : descriptor_targets(pid)) {
      EXPECT_NE(target, file) << pid;
      ++looked_at;
    }
  }
  EXPECT_GT(looked_at, 10U);
  for (const auto& each : all) {
    EXPECT_THAT(each->out(), Not(HasSubstr(file)));
    each->signal(SIGTERM);
  }
  for (const auto& each : all) EXPECT_EQ(each->wait().exit_code, 143);
}

// One host needs no key, and the descriptor still goes to no rank.
TEST_F(KeyFdTest, IsNoRanksOnOneHostEither) {
  const std::string file = write_key("by-descriptor", kKey);
  environment_.clear();
  const Result result =
      start_with(0, "-np 1 --key-fd 7 " + says_descriptors_, "7< " + file)->wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("said"), Not(HasSubstr(file))));
}

// rotarun reads the key from the pipe even if it needs no key: the shell, or a program that it
// starts, may also have the pipe open, and must find no key there.
TEST_F(KeyFdTest, IsReadAlsoWhereNoKeyIsNeeded) {
  environment_.clear();
  const Result result =
      start_with(0, "-np 1 --key-fd 7 sh -c 'cat <&8; echo read'", from_pipe(kKey) + " 8<&7")
          ->wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "read\n");
}

TEST_F(KeyFdTest, HasToHoldAKey) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {from_pipe("short"), "has 5 bytes, but a key needs at least 32"},
      {"7< /dev/zero", "has more than 4096 bytes"},
      {"7< /", "cannot be read: "},
      {"7<&-", "--key-fd 7: "},
  };
  for (const auto& [redirection, words] : cases) {
    const Result result = start_with(0, "--key-fd 7 true", redirection)->wait();
    EXPECT_EQ(result.exit_code, 77) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr("--key-fd"), HasSubstr(words)));
  }
}

TEST_F(KeyFdTest, IsNotForADescriptorBesideAFile) {
  const Result result = start_with(0, "--key-fd 7 --key-file key true", from_pipe(kKey))->wait();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--key-file and --key-fd: give only one of them"));
}

}  // namespace
}  // namespace rota::testing
