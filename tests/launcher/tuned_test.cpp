// Tests tuned files in real jobs: which ranks use the file, and which files are refused. The tests
// read the choices from the output of --verbose.
#include <fstream>
#include <sstream>

#include "launcher/launched.h"

namespace rota::launcher {
namespace {

constexpr const char* kOfThree =
    "rota-tuned 1\ntransport shm\nhosts 0-2\nall-reduce 0 tree\nall-reduce 4096 star\n";
const std::string kChoosing = test_path("choosing");

class Tuned : public Launched {
 protected:
  std::string file(const std::string& text, const std::string& name = "world.tuned") const {
    std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  static Result run_with(const std::string& variable, const std::vector<std::string>& arguments) {
    testing::Command command = rotarun(arguments);
    command.environment = {variable};
    return run(std::move(command));
  }

  static void expect_tuned(const Result& result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err,
                HasSubstr("all_reduce of 64 bytes float32 on 3 ranks over shm: tree (as "
                          "the tuned file says)"));
    EXPECT_THAT(result.err, HasSubstr("all_reduce of 1 MiB float32 on 3 ranks over shm: star (as "
                                      "the tuned file says)"));
    // The file has plans for three ranks only.
    EXPECT_THAT(result.err, HasSubstr("on 2 ranks of communicator 0.1/0 over shm: shared-memory"));
  }
};

TEST_F(Tuned, GivesTheirPlansToAllReduces) {
  const std::string path = file(kOfThree);
  expect_tuned(run_rotarun({"-np", "3", "--verbose", "--tuned", path, kChoosing}));
  expect_tuned(run_with("ROTA_TUNED=" + path, {"-np", "3", "--verbose", kChoosing}));
}

// The path starts at the directory where rotarun was started, whatever directory the ranks run in.
TEST_F(Tuned, IsFoundByARelativePath) {
  file(kOfThree);
  testing::Command command =
      rotarun({"-np", "3", "--verbose", "--wdir", "/", "--tuned", "world.tuned", kChoosing});
  command.directory = folder_;
  expect_tuned(run(std::move(command)));
}

TEST_F(Tuned, IsReadByRankZeroForAll) {
  const std::string path = file(kOfThree);
  const std::string text =
      "[ $ROTA_RANK = 0 ] && export ROTA_TUNED=" + path + "; exec " + kChoosing;
  expect_tuned(run_rotarun(script({"-np", "3", "--verbose"}, text)));
}

TEST_F(Tuned, IsTheSameOnEveryRank) {
  const std::string path = file(kOfThree);
  const Result result = run_rotarun(script(
      {"-np", "3"}, "[ $ROTA_RANK = 2 ] && export ROTA_TUNED=" + path + "; exec " + kChoosing));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("rank 2 was given the tuned file " + path +
                                    ", but rank 0 was given the tuned file none"));
}

TEST_F(Tuned, GivesWayToAPlanThatWasAskedFor) {
  const Result result =
      run_rotarun({"-np", "3", "--verbose", "--tuned", file(kOfThree), kChoosing, "ring"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("on 3 ranks over shm: ring (asked for)"));
  EXPECT_THAT(result.err, Not(HasSubstr("as the tuned file says")));
}

TEST_F(Tuned, IsRefusedInAnotherTopology) {
  const std::string path = file(kOfThree);
  const Result fewer = run_rotarun({"-np", "2", "--tuned", path, kChoosing});
  EXPECT_EQ(fewer.exit_code, 1);
  EXPECT_THAT(fewer.err,
              HasSubstr("the tuned file " + path +
                        " is for 3 ranks on 1 host (0-2) over shm, but this world is 2 ranks "
                        "on 1 host (0-1) over shm: tune this world with rota-bench tune, or "
                        "leave the file out"));
  const Result tcp = run_rotarun({"-np", "3", "--transport", "tcp", "--tuned", path, kChoosing});
  EXPECT_EQ(tcp.exit_code, 1);
  EXPECT_THAT(tcp.err, HasSubstr("but this world is 3 ranks on 1 host (0-2) over tcp"));
}

TEST_F(Tuned, IsRefusedWhereItCannotBeReadOrMakesNoSense) {
  const std::string absent = folder_ + "/absent";
  EXPECT_THAT(run_rotarun({"-np", "2", "--tuned", absent, kChoosing}).err,
              HasSubstr("the tuned file " + absent + " cannot be opened: "));
  EXPECT_THAT(run_rotarun({"-np", "2", "--tuned", folder_, kChoosing}).err,
              HasSubstr("the tuned file " + folder_ + " is not a regular file"));
  const std::string bad = file("rota-tuned 1\nnonsense\n", "bad");
  EXPECT_THAT(run_rotarun({"-np", "2", "--tuned", bad, kChoosing}).err,
              HasSubstr("the tuned file " + bad + ", line 2: 'nonsense' is none of "));
  const std::string large = file("rota-tuned 1\n" + std::string(40000, '#'), "large");
  EXPECT_THAT(run_rotarun({"-np", "2", "--tuned", large, kChoosing}).err,
              HasSubstr("the tuned file " + large + " has more than the allowed 32768 bytes"));
}

// A world of one rank has nothing to choose.
TEST_F(Tuned, IsLeftAloneByARankAlone) {
  testing::Command command;
  command.arguments = {kChoosing};
  command.environment = {"ROTA_TUNED=" + folder_ + "/absent"};
  EXPECT_EQ(run(std::move(command)).exit_code, 0);
}

TEST_F(Tuned, IsNamedInTheRankTablesHeader) {
  const std::string path = file(kOfThree);
  const Result text = run_rotarun({"-np", "3", "--tuned", path, "--show-ranks"});
  EXPECT_THAT(text.out, HasSubstr(" · shm · rotarun -np 3 · tuned by " + path + "\n"));
  const Result as_json = run_rotarun({"-np", "3", "--tuned", path, "--show-ranks", "--json"});
  EXPECT_THAT(as_json.out, HasSubstr("\"tuned\":\"" + path + "\""));
  EXPECT_THAT(run_rotarun({"-np", "3", "--show-ranks"}).out, Not(HasSubstr("tuned")));
}

}  // namespace
}  // namespace rota::launcher
