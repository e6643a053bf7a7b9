// The two files by which a training run and its evaluator know of each other: ended.json and
// evaluations.jsonl.
#include "checkpoint/evaluations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>

#include "checkpoint/ended.h"
#include "exports/full_disk.h"
#include "testing/error_of.h"
#include "training/temporary_folder.h"

namespace rota::checkpoint {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TemporaryFolder;

constexpr std::chrono::milliseconds kNoPatience{0};
const std::string kEvaluatedRun = "000102030405060708090a0b0c0d0e0f";
const std::string kOtherEvaluatedRun = "f00102030405060708090a0b0c0d0e0f";

SavedEvaluation evaluation(std::uint64_t step, const std::string& run = kEvaluatedRun) {
  return {.run = run, .start = 2, .step = step, .samples = 500, .sums = {0.1 + 60, 480}};
}

std::string text_at(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class EvaluationFiles : public ::testing::Test {
 protected:
  std::string folder() const { return folder_.path().string(); }
  std::string path() const { return folder() + "/evaluations.jsonl"; }
  void append(const std::string& text) const { std::ofstream(path(), std::ios::app) << text; }
  TemporaryFolder folder_;
};

TEST_F(EvaluationFiles, SayThatTheRunHasEnded) {
  EXPECT_EQ(read_ended(folder() + "/nothing"), std::nullopt);
  EXPECT_EQ(read_ended(folder()), std::nullopt);
  const Ended ended{.run = *run_id_from(kEvaluatedRun), .start = 2, .step = 1200};
  write_ended(folder(), ended);
  EXPECT_EQ(read_ended(folder()), ended);
  EXPECT_EQ(text_at(folder() + "/ended.json"),
            R"({"run":"000102030405060708090a0b0c0d0e0f","start":2,"step":1200})"
            "\n");
  const Ended later{.run = ended.run, .start = 3, .step = 1300};
  write_ended(folder(), later);
  EXPECT_EQ(read_ended(folder()), later);
  remove_ended(folder());
  remove_ended(folder());
  EXPECT_EQ(read_ended(folder()), std::nullopt);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(EvaluationFiles, NameAnEndThatIsDamaged) {
  for (const std::string text :
       {"", "{", "[1]", R"({"run":"00","start":1,"step":1})",
        R"({"run":"000102030405060708090a0b0c0d0e0f","start":-1,"step":1})",
        R"({"run":"000102030405060708090a0b0c0d0e0f","step":1})"}) {
    std::ofstream(folder() + "/ended.json") << text;
    const auto error = error_of([&] { read_ended(folder()); });
    ASSERT_TRUE(error) << text;
    EXPECT_EQ(error->code(), ErrorCode::kBadData);
    EXPECT_THAT(error->what(), HasSubstr(folder() + "/ended.json is damaged"));
  }
}

TEST_F(EvaluationFiles, KeepEachNumber) {
  const SavedEvaluation whole = evaluation(1200);
  const std::string line = encode(whole, {{"cost", 0.12}, {"accuracy", 0.96}});
  EXPECT_EQ(line, R"({"run":"000102030405060708090a0b0c0d0e0f","start":2,"step":1200,)"
                  R"("samples":500,"sums":[60.1,480.0],"means":{"accuracy":0.96,"cost":0.12}})"
                  "\n");
  EXPECT_EQ(evaluation_from(line), whole);
  SavedEvaluation broken = whole;
  broken.sums[0] = std::numeric_limits<double>::infinity();
  const auto read = evaluation_from(encode(broken, {}));
  ASSERT_TRUE(read);
  EXPECT_TRUE(std::isnan(read->sums[0]));
  EXPECT_EQ(read->sums[1], 480);
  for (const std::string text :
       {"", "{}", "7", R"({"run":"x","start":1,"step":1,"samples":1,"sums":[]})",
        R"({"run":"000102030405060708090a0b0c0d0e0f","start":1,"step":1,)"
        R"("samples":1,"sums":["1"]})"}) {
    EXPECT_EQ(evaluation_from(text), std::nullopt) << text;
  }
}

TEST_F(EvaluationFiles, AreKnownAfterARestart) {
  {
    EvaluationsFile file(folder(), kNoPatience);
    EXPECT_THAT(file.of_run(kEvaluatedRun), IsEmpty());
    file.add(evaluation(100), {});
    file.add(evaluation(300), {});
    file.add(evaluation(200), {});
    EXPECT_TRUE(file.has(kEvaluatedRun, 2, 200));
  }
  append(R"({"run":"0001)");  // The evaluator was killed while it wrote.
  {
    EvaluationsFile file(folder(), kNoPatience);
    EXPECT_TRUE(file.has(kEvaluatedRun, 2, 100));
    EXPECT_FALSE(file.has(kEvaluatedRun, 1, 100)) << "another start";
    EXPECT_FALSE(file.has(kOtherEvaluatedRun, 2, 100));
    EXPECT_THAT(file.of_run(kEvaluatedRun),
                ElementsAre(evaluation(100), evaluation(300), evaluation(200)));
    EXPECT_THAT(file.of_run(kOtherEvaluatedRun), IsEmpty());
    file.add(evaluation(400), {});
  }
  EXPECT_EQ(text_at(path()), encode(evaluation(100), {}) + encode(evaluation(300), {}) +
                                 encode(evaluation(200), {}) + encode(evaluation(400), {}));
}

// An evaluator that ended by it would end the training.
TEST_F(EvaluationFiles, PassOverALineThatIsDamaged) {
  append(encode(evaluation(100), {}) + "no evaluation\n" + encode(evaluation(200), {}));
  const std::string before = text_at(path());
  ::testing::internal::CaptureStderr();
  EvaluationsFile file(folder(), kNoPatience);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "rota: " + path() + ": line 2 is damaged, and is passed over\n");
  EXPECT_TRUE(file.has(kEvaluatedRun, 2, 100));
  EXPECT_TRUE(file.has(kEvaluatedRun, 2, 200));
  file.add(evaluation(300), {});
  EXPECT_EQ(text_at(path()), before + encode(evaluation(300), {})) << "nothing is lost";
}

// The disk takes no byte of the second line, nor of the third one, then all. A write beyond the
// limit of file sizes would end this process by SIGXFSZ.
TEST_F(EvaluationFiles, WriteLaterWhatTheDiskDidNotTake) {
  EvaluationsFile file(folder(), kNoPatience);
  file.add(evaluation(100), {});
  const std::string one = text_at(path());
  for (const std::size_t room : {std::size_t{0}, std::size_t{30}}) {
    const std::uint64_t step = room == 0 ? 200 : 300;
    const testing::FullDisk full(one.size() + room);
    const auto error = error_of([&] { file.add(evaluation(step), {}); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
    EXPECT_TRUE(file.has(kEvaluatedRun, 2, step));
  }
  file.add(evaluation(400), {});
  EXPECT_EQ(text_at(path()), one + encode(evaluation(200), {}) + encode(evaluation(300), {}) +
                                 encode(evaluation(400), {}));
}

TEST_F(EvaluationFiles, BelongToOneEvaluator) {
  const EvaluationsFile first(folder(), kNoPatience);
  const auto error = error_of([&] { EvaluationsFile(folder(), kNoPatience); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
  EXPECT_THAT(error->what(), HasSubstr("another evaluator writes there"));
}

TEST_F(EvaluationFiles, NeedAFolderThatCanBeWritten) {
  const auto error = error_of([&] { EvaluationsFile(folder() + "/nothing", kNoPatience); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
}

// Lines of earlier versions have no time.
TEST_F(EvaluationFiles, SayWhenTheCheckpointWasSaved) {
  SavedEvaluation timed = evaluation(100);
  timed.time = 1.79e9 + 0.25;
  const std::string line = encode(timed, {});
  EXPECT_THAT(line, HasSubstr(R"("time":1790000000.25})"));
  EXPECT_EQ(evaluation_from(line.substr(0, line.size() - 1)), timed);
  EXPECT_EQ(encode(evaluation(100), {}).find("time"), std::string::npos);
}

// Otherwise one read error of a network file system would end a training run. Method: a file is
// in the place of the folder at first.
TEST_F(EvaluationFiles, CanBeFollowedAgainAfterTheyCouldNotBeRead) {
  const std::filesystem::path run = folder_.path() / "run";
  std::ofstream(run) << "no folder";
  FollowedEvaluations followed(run / "evaluations.jsonl", 2);
  followed.begin(kEvaluatedRun, 0);
  EXPECT_EQ(followed.next(), std::nullopt);
  std::filesystem::remove(run);
  std::filesystem::create_directory(run);
  std::ofstream(run / "evaluations.jsonl") << encode(evaluation(100), {});
  std::optional<SavedEvaluation> found;
  for (const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
       !found && std::chrono::steady_clock::now() < limit;) {
    found = followed.next();
  }
  EXPECT_EQ(found, evaluation(100));
}

TEST_F(EvaluationFiles, CanBeFollowed) {
  FollowedEvaluations followed(path(), 2);
  followed.begin(kEvaluatedRun, 1);
  EXPECT_EQ(followed.next(), std::nullopt) << "there is no file yet";
  const std::string last = encode(evaluation(400), {});
  append(encode(evaluation(100), {}) + encode(evaluation(150, kOtherEvaluatedRun), {}) +
         encode(evaluation(200), {}) + "no evaluation\n" + encode(evaluation(300), {}) +
         last.substr(0, 20));
  EXPECT_EQ(followed.next(), std::nullopt) << "it looks once in a second";
  followed.begin(kEvaluatedRun, 1);
  EXPECT_EQ(followed.next(), evaluation(200)) << "the first one was taken before";
  EXPECT_EQ(followed.next(), evaluation(300));
  EXPECT_EQ(followed.next(), std::nullopt) << "the last line is not whole";
  const auto soon = [&followed] {
    std::optional<SavedEvaluation> found;
    for (const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
         !found && std::chrono::steady_clock::now() < limit;) {
      found = followed.next();
    }
    return found;
  };
  append(last.substr(20));
  EXPECT_EQ(soon(), evaluation(400));
  std::ofstream(path()) << encode(evaluation(400), {}) + encode(evaluation(500), {});
  EXPECT_EQ(soon(), evaluation(500)) << "the file is shorter, and 400 was taken before";

  FollowedEvaluations other_score(path(), 3);
  other_score.begin(kEvaluatedRun, 0);
  EXPECT_EQ(other_score.next(), std::nullopt);
}

}  // namespace
}  // namespace rota::checkpoint
