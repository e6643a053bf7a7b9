// A replica takes its parameters from a file on all ranks, or on none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rota/replica.h>
#include <rota/safetensors.h>

#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::outcomes_of_ranks;

class LoadParametersTest : public ::testing::Test {
 protected:
  static Model<float> model(std::size_t units = 8) {
    return Model<float>({6, 6, 1}, {dense(units), relu(), dense(4)});
  }

  std::filesystem::path path(const std::string& name = "model") const {
    return folder_.path() / name;
  }

  // Writes the initial parameters of a model, and returns their hash.
  std::uint64_t write(const std::string& name, std::uint64_t seed, std::size_t units = 8) const {
    std::uint64_t hash = 0;
    on_every_rank(1, [&](Communicator& communicator) {
      const Replica<float> replica(communicator, model(units), {.seed = seed});
      write_safetensors(path(name), replica.tensors());
      hash = replica.weights_hash();
    });
    return hash;
  }

  // Returns what each of two ranks throws when it loads the file that `file_of_rank` names.
  std::vector<Error> errors_of_ranks(
      const std::function<std::string(std::size_t)>& file_of_rank) const {
    std::vector<Error> errors;
    for (const auto& outcome : outcomes_of_ranks(2, [&](Communicator& communicator) {
           Replica<float> replica(communicator, model(), {.seed = 1});
           const std::uint64_t before = replica.weights_hash();
           const SafetensorsFile file(path(file_of_rank(communicator.rank())));
           try {
             replica.load(file);
           } catch (const Error&) {
             EXPECT_EQ(replica.weights_hash(), before);
             throw;
           }
         })) {
      errors.push_back(error_of(outcome));
    }
    return errors;
  }

  // Returns the refusal of both ranks if both load "model". They must give the same text.
  std::string refusal() const {
    const auto errors = errors_of_ranks([](std::size_t) { return "model"; });
    EXPECT_EQ(errors[0].code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(errors[0].what(), errors[1].what());
    return errors[0].what();
  }

  void write_tensors(const std::vector<NamedTensor>& tensors) const {
    write_safetensors(path(), tensors);
  }

  testing::TemporaryFolder folder_;
};

TEST_F(LoadParametersTest, GivesEveryRankTheParametersOfTheFile) {
  const std::uint64_t hash = write("model", 7);
  on_every_rank(3, [&](Communicator& communicator) {
    Replica<float> replica(communicator, model(), {.seed = 1});
    EXPECT_NE(replica.weights_hash(), hash);
    replica.load(SafetensorsFile(path()));
    EXPECT_EQ(replica.weights_hash(), hash);
  });
}

TEST_F(LoadParametersTest, NamesTheTensorAndBothShapes) {
  write("model", 7, 9);
  EXPECT_EQ(refusal(), path().string() +
                           ": does not fit the model: its tensor 0.dense.weights is float32 "
                           "[36, 9], but in the model it is float32 [36, 8]");
}

TEST_F(LoadParametersTest, NamesTheTensorAndBothTypes) {
  std::vector<NamedTensor> tensors;
  const std::vector<double> doubles(36 * 8);
  write_tensors({{"0.dense.weights", {36, 8}, doubles}});
  EXPECT_THAT(refusal(), HasSubstr("its tensor 0.dense.weights is float64 [36, 8], but in the "
                                   "model it is float32 [36, 8]"));
}

TEST_F(LoadParametersTest, NamesATensorThatIsMissingOrTooMany) {
  write_tensors({});
  EXPECT_THAT(refusal(), HasSubstr("it has no tensor 0.dense.weights, which is float32 [36, 8] in "
                                   "the model"));
  on_every_rank(1, [&](Communicator& communicator) {
    const Replica<float> replica(communicator, model(), {});
    std::vector<NamedTensor> tensors = replica.tensors();
    const std::vector<float> more(2);
    tensors.push_back({"more", {2}, more});
    write_tensors(tensors);
  });
  EXPECT_THAT(refusal(), HasSubstr("its tensor more, float32 [2], is not in the model"));
}

TEST_F(LoadParametersTest, RefusesDifferentFilesOnEveryRank) {
  write("a", 7);
  write("b", 8);
  for (const Error& error :
       errors_of_ranks([](std::size_t rank) { return rank == 0 ? "a" : "b"; })) {
    EXPECT_EQ(error.code(), ErrorCode::kMismatch);
    EXPECT_THAT(error.what(), HasSubstr("rank 1 has tensors to load: checksum "));
  }
}

TEST_F(LoadParametersTest, RefusesAFileThatFitsOnSomeRanksOnly) {
  write("a", 7);
  write("b", 7, 9);
  for (const Error& error :
       errors_of_ranks([](std::size_t rank) { return rank == 0 ? "a" : "b"; })) {
    EXPECT_EQ(error.code(), ErrorCode::kMismatch);
    EXPECT_THAT(error.what(), HasSubstr("is float32 [36, 9], but in the model it is"));
  }
}

}  // namespace
}  // namespace rota
