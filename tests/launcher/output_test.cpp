// Tests how rotarun treats the output of the ranks.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "launcher/launched.h"
#include "os/fd.h"
#include "os/pipe.h"

namespace rota::launcher {
namespace {

class Output : public Launched {};

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Method: four ranks write each line in three pieces, with pauses in which the others write. Every
// line of the result must be a whole line of one rank, and each rank's lines must be in order.
TEST_F(Output, NeverMixesLinesOfDifferentRanks) {
  const Result result = run_rotarun(script(
      {"-np", "4"},
      "for i in 0 1 2 3 4 5 6 7 8 9; do printf \"rank $ROTA_RANK \"; printf \"line \"; sleep "
      "0.001; printf \"$i of ten\\n\"; done"));
  ASSERT_EQ(result.exit_code, 0);
  std::map<char, int> next;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    ASSERT_EQ(line.size(), std::string("rank 0 line 0 of ten").size()) << line;
    EXPECT_EQ(line.substr(0, 5), "rank ");
    EXPECT_EQ(line.substr(7), "line " + std::to_string(next[line[5]]++) + " of ten");
  }
  EXPECT_EQ(next.size(), 4U);
}

TEST_F(Output, IsTaggedWithTheRank) {
  const Result result = run_rotarun(
      script({"-np", "2", "--tag-output"}, "echo out $ROTA_RANK; echo err $ROTA_RANK >&2"));
  EXPECT_THAT(result.out, HasSubstr("[rank 0] out 0\n"));
  EXPECT_THAT(result.out, HasSubstr("[rank 1] out 1\n"));
  EXPECT_THAT(result.err, HasSubstr("[rank 0] err 0\n"));
  EXPECT_THAT(result.err, HasSubstr("[rank 1] err 1\n"));
}

TEST_F(Output, IsPassedOnWithoutALastLinesEnd) {
  EXPECT_EQ(run_rotarun(script({"-np", "2"}, "[ $ROTA_RANK = 0 ] || printf 'no end'")).out,
            "no end");
}

TEST_F(Output, OfOneRankIsPassedOnAtOnce) {
  Process process(rotarun(script({"-np", "1"}, "printf 'name? '; exec sleep 60")));
  EXPECT_TRUE(process.wait_for("name? "));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().out, "name? ");
}

TEST_F(Output, GoesToFilesToo) {
  const std::string logs = folder_ + "/deep/logs";
  const Result result =
      run_rotarun(script({"-np", "2", "--output-filename", logs, "--tag-output"},
                         "echo out $ROTA_RANK; echo err $ROTA_RANK >&2; printf end"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("[rank 1] out 1\n"));
  EXPECT_EQ(contents_of(logs + "/rank.0/stdout"), "out 0\nend");
  EXPECT_EQ(contents_of(logs + "/rank.1/stdout"), "out 1\nend");
  EXPECT_EQ(contents_of(logs + "/rank.1/stderr"), "err 1\n");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Method: all times have the same format, so they sort as strings. They must be between a time
// before and a time after the run.
TEST_F(Output, HasTheTimeOfEachLine) {
  const auto now = [] {
    const auto date = run({.arguments = {"/bin/date", "-u", "+%Y-%m-%dT%H:%M:%S.%3NZ"}});
    return date.out.substr(0, date.out.find('\n'));
  };
  for (const bool is_tagged : {false, true}) {
    const std::string logs = folder_ + (is_tagged ? "/tagged" : "/plain");
    // The second line comes milliseconds after the first line got its time.
    const std::string text = "echo one; until grep -q one " + logs +
                             "/rank.0/stdout; do sleep 0.01; done; sleep 0.01; " +
                             "printf 'two '; echo three; printf end";
    std::vector<std::string> options = {"-np", "1", "--timestamp-output", "--output-filename",
                                        logs};
    if (is_tagged) options.emplace_back("--tag-output");
    const std::string begin = now();
    const Result result = run_rotarun(script(options, text));
    const std::string end = now();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    for (const bool is_file : {false, true}) {
      const auto lines = lines_of(is_file ? contents_of(logs + "/rank.0/stdout") : result.out);
      const std::string tag = is_tagged && !is_file ? " [rank 0] " : " ";
      ASSERT_EQ(lines.size(), 3U) << result.out;
      const std::vector<std::string> words = {"one", "two three", "end"};
      std::string last = begin;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        ASSERT_EQ(lines[i].substr(begin.size()), tag + words[i]);
        const std::string time = lines[i].substr(0, begin.size());
        EXPECT_GE(time, last);
        EXPECT_LE(time, end);
        last = time;
      }
      EXPECT_LT(lines[0].substr(0, begin.size()), last);
    }
  }
}

TEST_F(Output, OfAFailedRankIsAllThereBeforeTheReport) {
  const Result result = run_rotarun(
      script({"-np", "2"}, "[ $ROTA_RANK = 1 ] && exec sleep 60; seq 5000 >&2; exit 3"));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_LT(result.err.find("\n5000\n"), result.err.find("rotarun: rank 0"));
  EXPECT_THAT(result.err, HasSubstr("rotarun:   4991\n"));
  EXPECT_THAT(result.err, ::testing::EndsWith("rotarun:   5000\n"));
  EXPECT_THAT(result.err, Not(HasSubstr("rotarun:   4990\n")));
}

// Reads a blocking descriptor to its end, slowly at first.
std::size_t read_slowly(int fd) {
  std::vector<char> buffer(64 * 1024);
  std::size_t bytes = 0;
  for (int turn = 0;; ++turn) {
    if (turn < 20) std::this_thread::sleep_for(milliseconds(10));
    const ssize_t count = ::read(fd, buffer.data(), turn < 20 ? 1000 : buffer.size());
    if (count <= 0) return bytes;
    bytes += static_cast<std::size_t>(count);
  }
}

// Method: four ranks write much more than a pipe and rotarun's queue hold, and the reader is slow.
TEST_F(Output, WaitsForASlowReaderAndLosesNothing) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const os::Fd reader(ends[0]);
  testing::Command command = rotarun(
      script({"-np", "4"}, "yes 0123456789abcdef0123456789abcdef0123456789abcde | head -50000"));
  command.standard_output = ends[1];
  Process process(std::move(command));
  ::close(ends[1]);
  EXPECT_EQ(read_slowly(reader.get()), 4U * 50'000 * 48);
  EXPECT_EQ(process.wait().exit_code, 0);
}

// Returns the peak memory of a process, in KiB.
long peak_memory_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::strtol(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

// Method: a rank writes endlessly to a pipe that nobody reads. Memory stays bounded, and the
// timeout and the signals still work.
TEST_F(Output, ToAReaderThatDoesNotReadHoldsUpNothingElse) {
  for (const bool by_signal : {false, true}) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const os::Fd reader(ends[0]);
    testing::Command command =
        rotarun({"-np", "2", "--timeout", by_signal ? "60" : "1", "yes", "endless"});
    command.standard_output = ends[1];
    Process process(std::move(command));
    ::close(ends[1]);
    std::this_thread::sleep_for(milliseconds(500));
    long peak = 0;
    for (const pid_t pid : testing::live_descendants()) {
      peak = std::max(peak, peak_memory_of(pid));
    }
#if !defined(ROTA_IS_SANITIZED)
    EXPECT_LT(peak, 64 * 1024);
#endif
    EXPECT_GT(peak, 0);
    if (by_signal) process.signal(SIGTERM);
    const Result result = process.wait(seconds(10));
    EXPECT_TRUE(result.was_in_time);
    EXPECT_EQ(result.exit_code, by_signal ? 143 : 124);
    EXPECT_TRUE(testing::all_gone_within(seconds(0)));
  }
}

// Method: the ranks end well, and leave more than a pipe holds to rotarun.
TEST_F(Output, ThatNobodyReadsIsLostAtTheTimeoutAndSaidSo) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const os::Fd reader(ends[0]);
  // On a busy machine, the ranks take a second.
  testing::Command command =
      rotarun(script({"-np", "1", "--timeout", "5"}, "yes | head -c 500000"));
  command.standard_output = ends[1];
  Process process(std::move(command));
  ::close(ends[1]);
  const Result result = process.wait(seconds(30));
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_THAT(result.err, HasSubstr("rotarun: --timeout has passed, but nobody has read the rest"));
}

TEST_F(Output, EndsRanksWhenNobodyReadsAnyMore) {
  const Result result = run(
      {.arguments = {"/bin/sh", "-c",
                     "(" + testing::rotarun_path() + " -np 2 yes; echo code $? >&2) | head -1"}});
  EXPECT_EQ(result.out, "y\n");
  EXPECT_THAT(result.err, HasSubstr("was killed by SIGPIPE"));
  EXPECT_THAT(result.err, HasSubstr("code 141"));
}

// Method: /dev/full refuses all data, like a full disk.
TEST_F(Output, ThatADiskDoesNotTakeEndsNoTraining) {
  const Result result =
      run({.arguments = {"/bin/sh", "-c",
                         testing::rotarun_path() + " -np 2 sh -c 'seq 1000; sleep 0.2; seq 1000' "
                                                   ">/dev/full; echo code $? >&2"}});
  EXPECT_THAT(result.err, HasSubstr("code 0"));
  const std::string warning = "warning: stdout cannot be written";
  EXPECT_THAT(result.err, HasSubstr(warning));
  EXPECT_THAT(result.err, HasSubstr("No space left on device"));
  EXPECT_EQ(result.err.find(warning), result.err.rfind(warning)) << "it is said once";
  const std::size_t lost_bytes =
      4 * std::string("1\n").size() * 9 + 4 * 90 * 3 + 4 * 900 * 4 + 4 * 5;
  EXPECT_THAT(result.err, HasSubstr(std::to_string(lost_bytes) + " bytes of stdout were lost"));
}

// Method: the size of files is limited. At this limit, SIGXFSZ kills a process that does not ignore
// this signal.
TEST_F(Output, BeyondTheSizeThatAFileMayHaveIsLostAndSaidSo) {
  const Result result = run({.arguments = {"/bin/sh", "-c",
                                           "ulimit -f 8; " + testing::rotarun_path() +
                                               " -np 1 --transport tcp seq 20000 >" + folder_ +
                                               "/log; echo code $? >&2"}});
  EXPECT_THAT(result.err, HasSubstr("code 0"));
  EXPECT_THAT(result.err, HasSubstr("File too large"));
  EXPECT_THAT(contents_of(folder_ + "/log"), ::testing::StartsWith("1\n2\n"));
}

// Method: a program appends to a log that is as large as it may be. SIGXFSZ would end the program.
TEST_F(Output, OfItsOwnBeyondTheSizeThatAFileMayHaveDecidesOnlyTheExitCode) {
  const std::map<std::string, int> codes = {
      {"rotarun --help >>", 1},          {"rotarun --no-such-option 2>>", 2},
      {"rotarun render --help >>", 1},   {"rotarun render --no-such-option 2>>", 2},
      {"rota-checkpoint --help >>", 73}, {"rota-checkpoint no-such-command 2>>", 2},
  };
  for (const auto& [command, code] : codes) {
    std::ofstream(folder_ + "/log") << std::string(65536, '.');
    const Result result =
        run({.arguments = {"/bin/sh", "-c",
                           "ulimit -f 8; exec " + testing::bin_path(command) + folder_ + "/log"}});
    EXPECT_EQ(result.signal, 0) << command;
    EXPECT_EQ(result.exit_code, code) << command;
    EXPECT_EQ(contents_of(folder_ + "/log").size(), 65536U) << command;
  }
}

// Links in a folder where other users may write are a trap.
class OutputTrap : public Output {
 protected:
  void SetUp() override {
    Output::SetUp();
    std::filesystem::create_directories(elsewhere_);
    std::ofstream(mine_) << "precious";
  }

  // Starts rotarun where a link leads to a file that holds "precious", which rotarun must not
  // change. Returns the refusal.
  std::string refusal() const {
    const Result result =
        run_rotarun({"-np", "1", "--output-filename", folder_ + "/out", "echo", "new"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(contents_of(mine_), "precious");
    return result.err;
  }

  const std::string rank_folder_ = folder_ + "/out/rank.0";
  const std::string elsewhere_ = folder_ + "/elsewhere";
  const std::string mine_ = elsewhere_ + "/stdout";
};

TEST_F(OutputTrap, OfALinkIsNotFollowed) {
  std::filesystem::create_directories(rank_folder_);
  std::filesystem::create_symlink(mine_, rank_folder_ + "/stdout");
  EXPECT_THAT(refusal(), HasSubstr("rank.0/stdout: this is a symbolic or hard link; remove it"));
}

TEST_F(OutputTrap, OfAHardLinkIsNotFollowed) {
  std::filesystem::create_directories(rank_folder_);
  std::filesystem::create_hard_link(mine_, rank_folder_ + "/stdout");
  EXPECT_THAT(refusal(), HasSubstr("rank.0/stdout: this is a symbolic or hard link; remove it"));
}

TEST_F(OutputTrap, OfAFolderThatIsALinkIsNotFollowed) {
  std::filesystem::create_directories(folder_ + "/out");
  std::filesystem::create_directory_symlink(elsewhere_, rank_folder_);
  EXPECT_THAT(refusal(), HasSubstr("/out/rank.0: this is a symbolic or hard link; remove it"));
}

TEST_F(OutputTrap, OfAPipeIsNotWaitedFor) {
  std::filesystem::create_directories(rank_folder_);
  ASSERT_EQ(::mkfifo((rank_folder_ + "/stdout").c_str(), 0600), 0);
  const os::Fd reader(::open((rank_folder_ + "/stdout").c_str(), O_RDONLY | O_NONBLOCK));
  EXPECT_THAT(refusal(), HasSubstr("rank.0/stdout: this is not a regular file"));
}

// The folder itself may be named by a link.
TEST_F(Output, GoesToAFolderThatIsNamedByALinkAndEmptiesItsFiles) {
  std::filesystem::create_directories(folder_ + "/real/rank.0");
  std::ofstream(folder_ + "/real/rank.0/stdout") << "what an earlier job has left";
  std::filesystem::create_directory_symlink(folder_ + "/real", folder_ + "/out");
  const Result result =
      run_rotarun({"-np", "1", "--output-filename", folder_ + "/out", "echo", "new"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(contents_of(folder_ + "/real/rank.0/stdout"), "new\n");
}

// Method: the size of files is limited.
TEST_F(Output, NamesAFileThatTakesNoMore) {
  const Result result =
      run({.arguments = {"/bin/sh", "-c",
                         "(ulimit -f 8; " + testing::rotarun_path() +
                             " -np 1 --transport tcp --output-filename " + folder_ +
                             " seq 20000; echo code $? >&2) | tail -1"}});
  EXPECT_EQ(result.out, "20000\n");
  EXPECT_THAT(result.err, HasSubstr("code 0"));
  EXPECT_THAT(result.err, HasSubstr("rank.0/stdout is incomplete: write: File too large"));
}

TEST_F(Output, InFilesGoesOnWhenNobodyReadsTheRest) {
  const Result result =
      run({.arguments = {"/bin/sh", "-c",
                         "(" + testing::rotarun_path() + " -np 1 --output-filename " + folder_ +
                             " seq 100000; echo code $? >&2) | true"}});
  EXPECT_THAT(result.err, HasSubstr("code 0"));
  EXPECT_THAT(contents_of(folder_ + "/rank.0/stdout"), ::testing::EndsWith("\n100000\n"));
}

}  // namespace
}  // namespace rota::launcher
