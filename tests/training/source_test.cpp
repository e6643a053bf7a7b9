// Tests the sources that rota makes: of labelled images, and of records. Method: a batch has the
// samples that were asked for, in their order, and a trainer learns the same from both.
#include <rota/source.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include <rota/split.h>
#include <rota/trainer.h>

#include "testing/error_of.h"
#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string string_of(std::span<const std::byte> record) {
  return {reinterpret_cast<const char*>(record.data()), record.size()};
}

class RecordSource : public ::testing::Test {
 protected:
  // Writes one shard for each list of records.
  RecordReader reader_of(const std::vector<std::vector<std::string>>& shards) const {
    for (std::size_t shard = 0; shard < shards.size(); ++shard) {
      RecordWriter writer(shard_path(prefix(), shard, shards.size()));
      for (const std::string& record : shards[shard]) {
        writer.append(std::as_bytes(std::span(record)));
      }
      writer.close();
    }
    return RecordReader(shards_of(prefix()));
  }
  std::filesystem::path prefix() const { return folder_.path() / "train"; }

  void damage(std::size_t shard, std::size_t shard_count, std::streamoff at) const {
    std::fstream file(shard_path(prefix(), shard, shard_count), std::ios::in | std::ios::out);
    file.seekp(at);
    file.put('!');
  }

  testing::TemporaryFolder folder_;
};

void append_text(std::span<const std::byte> record, std::vector<std::string>& batch) {
  batch.push_back(string_of(record));
}

using Texts = std::vector<std::string>;

TEST_F(RecordSource, GathersTheSamplesThatAreAskedFor) {
  const RecordReader reader = reader_of({{"a", "b"}, {"c"}, {}, {"d", "e"}});
  EXPECT_THAT(reader.shard_counts(), ElementsAre(2, 1, 0, 2));
  const auto source = records_of<Texts>(reader, append_text, {.digest = "letters"});
  EXPECT_EQ(source.count, 5u);
  EXPECT_EQ(source.digest, "letters");
  EXPECT_THAT(source.gather({.samples = std::vector<std::uint64_t>{4, 0, 2}}),
              ElementsAre("e", "a", "c"));
}

// The first record of a shard has 12 bytes before its data.
TEST_F(RecordSource, NamesADamagedRecordOrLeavesItOut) {
  const RecordReader reader = reader_of({{"a", "b"}, {"c", "d"}});
  damage(1, 2, 12);
  const std::vector<std::uint64_t> samples = {1, 2, 3};
  const auto error = testing::error_of(
      [&] { records_of<Texts>(reader, append_text).gather({.samples = samples}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kBadData);
  EXPECT_THAT(error->what(), HasSubstr("train-00001-of-00002.tfrecord: record 0"));
  const auto patient = records_of<Texts>(reader, append_text, {.skips_damaged = true});
  EXPECT_THAT(patient.gather({.samples = samples}), ElementsAre("b", "d"));
  EXPECT_EQ(reader.damaged_count(), 1u);
}

// A record has the label and then the pixels. The weights are those of the same data in memory.
TEST_F(RecordSource, TrainsAModelAsTheSameImagesInMemory) {
  const Dataset data = testing::small_dataset(60);
  std::vector<std::vector<std::string>> shards(3);
  for (std::size_t i = 0; i < data.count(); ++i) {
    std::string record(1, static_cast<char>(data.labels[i]));
    record.append(reinterpret_cast<const char*>(data.pixels.data()) + i * 36, 36);
    shards[i / 20].push_back(record);
  }
  const RecordReader reader = reader_of(shards);
  const auto decode = [](std::span<const std::byte> record, std::span<float> inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = static_cast<float>(record[i + 1]) / 255.0F;
    }
    return static_cast<std::uint8_t>(record[0]);
  };
  const auto make_model = [] {
    return Model<float>({6, 6, 1}, {dense(8), dropout(0.5), dense(4)});
  };
  const TrainerOptions options{.epochs = 2, .batch_size = 10};
  testing::on_every_rank(2, [&](Communicator& communicator) {
    Trainer<float> in_memory(communicator, make_model(), data, data, options);
    Model<float> model = make_model();
    auto train = records_of(reader, model, options.batch_size, decode);
    auto test = records_of(reader, model, options.batch_size, decode);
    Trainer<float> from_disk(communicator, std::move(model), std::move(train), std::move(test),
                             options);
    EXPECT_EQ(from_disk.run().weights_hash, in_memory.run().weights_hash);
  });
}

TEST_F(RecordSource, ShufflesByWindowsOverItsShards) {
  const RecordReader reader = reader_of({{"a", "b", "c"}, {"d", "e"}, {"f", "g", "h", "i"}});
  const auto source = records_of<Texts>(reader, append_text);
  EXPECT_THAT(source.shards, ElementsAre(3, 2, 4));
  EXPECT_THAT(part_of(source, {0, 2, 5, 6, 8}).shards, ElementsAre(2, 0, 3));
  EXPECT_THAT(part_of(source, {2, 0}).shards, ElementsAre());
}

TEST(ShuffleWindow, IsTheOrderInWhichATrainerVisitsShards) {
  const Dataset data = testing::small_dataset(60);
  Communicator alone{CommunicatorOptions{}};
  Model<float> model({6, 6, 1}, {dense(4)});
  auto train = samples_of(data, model, 10, "training");
  auto test = samples_of(data, model, 10, "test");
  std::vector<std::uint64_t> visited;
  train.shards = {20, 25, 15};
  train.gather = [&visited, gather = train.gather](const SampleRun& run) {
    visited.insert(visited.end(), run.samples.begin(), run.samples.end());
    return gather(run);
  };
  Trainer<float> trainer(alone, std::move(model), train, test,
                         {.batch_size = 10, .prefetch = 2, .shuffle_window = 7, .seed = 5});
  trainer.run();
  WindowedOrder order(7, train.shards, 5);
  order.shuffle(1);
  std::vector<std::uint64_t> expected(60);
  order.copy(0, expected);
  EXPECT_EQ(visited, expected);
}

// The state of a run with one window fits no run with another.
TEST(ShuffleWindow, IsAFactOfTheTrainingRun) {
  const Dataset data = testing::small_dataset(60);
  Communicator alone{CommunicatorOptions{}};
  const auto run_with = [&](std::size_t window, const State* from) {
    Trainer<float> trainer(alone, Model<float>({6, 6, 1}, {dense(4)}), data, data,
                           {.batch_size = 10, .prefetch = 2, .shuffle_window = window});
    if (from != nullptr) trainer.give_state(*from);
    trainer.run();
    return trainer.state();
  };
  const State state = run_with(7, nullptr);
  EXPECT_NE(state, run_with(0, nullptr));
  run_with(7, &state);
  const auto error = testing::error_of([&] { run_with(8, &state); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("windows of 7 samples, shards 1"));
  EXPECT_THAT(error->what(), HasSubstr("windows of 8 samples, shards 1"));
}

// So a thread may gather a batch while another thread still uses the last one of another copy.
TEST(ImageSource, HasItsOwnMemoryInEachCopy) {
  const Dataset data = testing::small_dataset(4);
  const Model<float> model({6, 6, 1}, {dense(4)});
  const BatchSource<float> one = samples_of(data, model, 1, "training");
  const BatchSource<float> other = one;
  const std::vector<std::uint64_t> samples = {1, 2};
  const Batch<float> first = one.gather({.samples = std::span(samples).first(1)});
  other.gather({.samples = std::span(samples).last(1)});
  EXPECT_EQ(first.labels[0], data.labels[1]);
  EXPECT_EQ(first.inputs[0], static_cast<float>(data.pixels[36]) / 255);
}

}  // namespace
}  // namespace rota
