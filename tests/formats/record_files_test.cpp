// A data set of records is read as it was written, and what is wrong with its files is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rota/records.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>

#include "base/byte_stream.h"
#include "formats/records.h"
#include "testing/error_of.h"
#include "testing/said_by_child.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class RecordFilesTest : public ::testing::Test {
 protected:
  std::filesystem::path path(const std::string& name = "a") const { return folder_.path() / name; }

  void write(const std::filesystem::path& file, const std::vector<std::string>& records) const {
    RecordWriter writer(file);
    for (const std::string& record : records) writer.append(base::bytes_of(record));
    EXPECT_EQ(writer.count(), records.size());
    writer.close();
  }

  static std::vector<std::string> read(const std::vector<std::filesystem::path>& files) {
    const RecordReader reader(files);
    std::vector<std::string> records;
    for (std::size_t i = 0; i < reader.count(); ++i) records.push_back(text_of(reader.record(i)));
    return records;
  }

  // Returns the message of the Error that opening the file throws.
  std::string refusal(const std::string& name, ErrorCode code = ErrorCode::kBadData) const {
    const auto error = error_of([&] { RecordReader reader({path(name)}); });
    if (!error) return "accepted";
    EXPECT_EQ(error->code(), code) << error->what();
    return error->what();
  }

  void change_byte(const std::string& name, std::size_t at) const {
    std::fstream file(path(name), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 1));
  }

  testing::TemporaryFolder folder_;
};

TEST_F(RecordFilesTest, AreReadAsTheyWereWritten) {
  const std::string long_record(3 << 20, 'x');
  const std::vector<std::string> records = {"one", "", long_record, "four"};
  write(path(), records);
  EXPECT_EQ(read({path()}), records);
  EXPECT_TRUE(std::filesystem::remove(index_path(path())));
  EXPECT_EQ(read({path()}), records);
}

TEST_F(RecordFilesTest, AreNumberedThrough) {
  write(shard_path(path("train"), 0, 3), {"a", "b"});
  write(shard_path(path("train"), 1, 3), {});
  write(shard_path(path("train"), 2, 3), {"c"});
  EXPECT_THAT(read(shards_of(path("train"))), ElementsAre("a", "b", "c"));
  EXPECT_TRUE(std::filesystem::exists(path("train-00002-of-00003.tfrecord")));
  EXPECT_TRUE(std::filesystem::exists(path("train-00002-of-00003.tfrecord.index")));
}

TEST_F(RecordFilesTest, AppearWhenTheyAreClosed) {
  {
    RecordWriter writer(path());
    writer.append(base::bytes_of("lost"));
    EXPECT_FALSE(std::filesystem::exists(path()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

// The child of a fork would delete what its parent has written so far.
TEST_F(RecordFilesTest, AreLeftToTheProcessThatWritesThem) {
  auto writer = std::make_unique<RecordWriter>(path());
  writer->append(base::bytes_of(std::string("first")));
  const auto said = testing::said_by_child([&] {
    std::string text = testing::not_refused(
        "this RecordWriter",
        {{"append", [&] { writer->append(base::bytes_of(std::string("of the child"))); }},
         {"close", [&] { writer->close(); }}});
    writer.reset();
    return text;
  });
  EXPECT_EQ(said, "");
  writer->append(base::bytes_of(std::string("second")));
  writer->close();
  EXPECT_THAT(read({path()}), ElementsAre("first", "second"));
}

TEST_F(RecordFilesTest, AreNeverOverwritten) {
  write(path(), {"a"});
  const auto refuses = [&] {
    const auto error = error_of([&] { RecordWriter writer(path()); });
    return error && error->code() == ErrorCode::kCannotWrite ? error->what() : std::string();
  };
  EXPECT_THAT(refuses(), HasSubstr("a: cannot be written: it exists"));
  std::filesystem::remove(path());
  EXPECT_THAT(refuses(), HasSubstr("a.index: cannot be written: it exists"));
}

TEST_F(RecordFilesTest, AreNotClosedAfterARecordWasLost) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  {
    RecordWriter writer(path());
    const std::string record(2 << 20, 'x');
    EXPECT_TRUE(error_of([&] { writer.append(base::bytes_of(record)); }));
    const auto error = error_of([&] { writer.close(); });
    EXPECT_TRUE(error && error->code() == ErrorCode::kCannotWrite);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

// The disk may have room again. A record behind half of another one could not be read.
TEST_F(RecordFilesTest, AreNotWrittenOnAfterARecordWasLost) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = (3 << 19) + 100;  // Room for half of the second record.
  const std::string record(1 << 20, 'x');
  {
    RecordWriter writer(path());
    writer.append(base::bytes_of(record));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_TRUE(error_of([&] { writer.append(base::bytes_of(record)); }));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    const auto error = error_of([&] { writer.append(base::bytes_of(record)); });
    EXPECT_TRUE(error && error->code() == ErrorCode::kCannotWrite);
    EXPECT_TRUE(error_of([&] { writer.close(); }));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(RecordFilesTest, NameADamagedRecordAndSkipItIfAsked) {
  write(path(), {"one", "two", "three"});
  change_byte("a", 19 + 12);  // The first byte of "two".
  const RecordReader reader({path()});
  EXPECT_EQ(text_of(reader.record(0)), "one");
  EXPECT_EQ(text_of(reader.record(2)), "three");
  const auto error = error_of([&] { reader.record(1); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kBadData);
  EXPECT_THAT(error->what(), HasSubstr(path().string() + ": record 1 at byte 19: the checksum of "
                                                         "its 3 bytes is 0x"));
  std::vector<std::string> whole;
  for (std::size_t i = 0; i < reader.count(); ++i) {
    if (const auto record = reader.record_if_whole(i)) whole.push_back(text_of(*record));
  }
  EXPECT_THAT(whole, ElementsAre("one", "three"));
  EXPECT_EQ(reader.damaged_count(), 1U);
}

// With an index, the records after a damaged length are found. Without one, they are lost.
TEST_F(RecordFilesTest, NameADamagedLength) {
  write(path(), {"one", "two", "three"});
  change_byte("a", 19);
  {
    const RecordReader reader({path()});
    EXPECT_EQ(text_of(reader.record(2)), "three");
    const auto error = error_of([&] { reader.record(1); });
    ASSERT_TRUE(error);
    EXPECT_THAT(error->what(), HasSubstr("record 1 at byte 19: the checksum of its length is 0x"));
  }
  std::filesystem::remove(index_path(path()));
  EXPECT_THAT(refusal("a"), HasSubstr("without an index, the records after it cannot be found"));
}

TEST_F(RecordFilesTest, AreRefusedIfTheyWereCutOff) {
  write(path(), {"one", "two"});
  std::filesystem::resize_file(path(), 30);
  EXPECT_THAT(refusal("a"), HasSubstr("a.index: belongs to another file: it describes 38 bytes, "
                                      "but the file has 30"));
  std::filesystem::remove(index_path(path()));
  EXPECT_THAT(refusal("a"), HasSubstr("record 1 at byte 19: the file ends within its length"));
  std::filesystem::resize_file(path(), 0);
  EXPECT_THAT(refusal("a"), HasSubstr("a: is empty and has no index"));
}

// Both files have 38 bytes.
TEST_F(RecordFilesTest, AreNotReadByTheIndexOfAnotherFile) {
  write(path("a"), {"one", "two"});
  write(path("b"), {"fo", "four"});
  std::filesystem::rename(path("b.index"), path("a.index"));
  const RecordReader reader({path("a")});
  const auto error = error_of([&] { reader.record(0); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("ends at byte 19, but not according to the index"));
  EXPECT_TRUE(error_of([&] { reader.record(1); }));
}

TEST_F(RecordFilesTest, AreNothingButRegularFiles) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal("pipe"), HasSubstr("pipe: is a pipe, expected a regular file"));
  EXPECT_THAT(refusal("."), HasSubstr("expected a regular file"));
  refusal("missing", ErrorCode::kNotFound);
  write(path(), {"one"});
  std::filesystem::create_symlink("a", path("link"));
  EXPECT_THAT(read({path("link")}), ElementsAre("one"));
  std::filesystem::remove(index_path(path()));
  ASSERT_EQ(::mkfifo(path("a.index").c_str(), 0600), 0);
  EXPECT_THAT(refusal("a"), HasSubstr("a.index: is a pipe"));
}

TEST_F(RecordFilesTest, LackNoShard) {
  const auto refuses = [&](ErrorCode code) {
    const auto error = error_of([&] { shards_of(path("train")); });
    EXPECT_TRUE(error && error->code() == code);
    return error ? error->what() : std::string();
  };
  EXPECT_THAT(refuses(ErrorCode::kNotFound), HasSubstr("say where the data set is"));
  write(shard_path(path("train"), 0, 2), {"a"});
  EXPECT_THAT(refuses(ErrorCode::kNotFound),
              HasSubstr("train-00001-of-00002.tfrecord: this shard is missing"));
  write(shard_path(path("train"), 1, 2), {"b"});
  EXPECT_EQ(shards_of(path("train")).size(), 2U);
  // No shards have such names.
  std::ofstream(path("train-00007-of-00002.tfrecord")) << "x";
  std::ofstream(path("train-0000x-of-00003.tfrecord")) << "x";
  EXPECT_EQ(shards_of(path("train")).size(), 2U);
  write(shard_path(path("train"), 1, 3), {"c"});
  EXPECT_THAT(refuses(ErrorCode::kBadData), HasSubstr("there are files of a set of "));
  EXPECT_TRUE(error_of([&] { shard_path("a", 2, 2); }));
}

TEST_F(RecordFilesTest, HaveNoRecordBehindTheLast) {
  write(path(), {"one"});
  const RecordReader reader({path()});
  const auto error = error_of([&] { reader.record(1); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error->what(), HasSubstr("there is no record 1: the data set has 1"));
}

}  // namespace
}  // namespace rota
