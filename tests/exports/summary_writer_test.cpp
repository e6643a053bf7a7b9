// The records of an event file, in their order, and what happens when they cannot be written.
// Method: reads the files with protozero. tests/judges/ has TensorBoard read them.
#include <gtest/gtest.h>
#include <rota/error.h>
#include <rota/summaries.h>
#include <sched.h>
#include <sys/mount.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "exports/full_disk.h"
#include "exports/read_events.h"
#include "testing/error_of.h"
#include "testing/said_by_child.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

using testing::error_of;
using testing::FullDisk;
using testing::read_events;
using testing::ReadEvent;
using testing::TemporaryFolder;

void expect_head(const std::vector<ReadEvent>& events, std::int64_t first_step) {
  ASSERT_GE(events.size(), 2U);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_TRUE(events[1].is_start);
  EXPECT_EQ(events[1].step, first_step);
}

TEST(SummaryWriter, BeginsWithTheVersionAndTheStart) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path() / "a" / "b");
  writer.scalar("loss", 0.5, 41);
  writer.scalar("loss", 0.25, 42);
  writer.close();
  const auto events = read_events(writer.path());
  expect_head(events, 41);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[2].tag, "loss");
  EXPECT_EQ(events[2].step, 41);
  EXPECT_EQ(events[2].scalar, 0.5F);
  EXPECT_EQ(events[3].step, 42);
  EXPECT_EQ(writer.dropped(), 0U);
}

TEST(SummaryWriter, StartsAtTheGivenStep) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path(), {.first_step = 7});
  writer.scalar("loss", 0.5, 10);
  writer.flush();
  const auto events = read_events(writer.path());
  expect_head(events, 7);
  EXPECT_EQ(events.size(), 3U);
}

TEST(SummaryWriter, NamesFilesInTheOrderOfTheirMaking) {
  const TemporaryFolder folder;
  std::string last;
  for (int i = 0; i < 12; ++i) {
    const std::string name = SummaryWriter(folder.path()).path().filename().string();
    EXPECT_GT(name, last);
    last = name;
  }
}

TEST(SummaryWriter, KeepsNanAndInfinity) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  writer.scalar("loss", std::nan(""), 1);
  writer.scalar("loss", -INFINITY, 2);
  const std::array<float, 4> values = {1, std::nanf(""), INFINITY, 2};
  writer.histogram("weights", values, 3);
  writer.close();
  const auto events = read_events(writer.path());
  ASSERT_EQ(events.size(), 6U);
  EXPECT_TRUE(std::isnan(events[2].scalar));
  EXPECT_EQ(events[3].scalar, -INFINITY);
  EXPECT_EQ(events[4].tag, "weights");
  EXPECT_EQ(events[5].tag, "weights/not_finite");
  EXPECT_EQ(events[5].scalar, 2);
}

// Without flush() and close(), the thread writes after the interval.
TEST(SummaryWriter, WritesAfterTheInterval) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path(), {.flush_interval = std::chrono::milliseconds(10)});
  writer.scalar("loss", 0.5, 1);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (read_events(writer.path()).size() < 3 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(read_events(writer.path()).size(), 3U);
}

TEST(SummaryWriter, TakesSummariesOfSeveralThreads) {
  constexpr int kSummaries = 3'000;
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path(), {.queue_summaries = 1'000'000});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&writer, thread] {
      for (int i = 0; i < kSummaries; ++i) writer.scalar("tag" + std::to_string(thread), i, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  writer.close();
  std::array<int, 3> next{};
  for (const ReadEvent& event : read_events(writer.path())) {
    if (!event.tag.starts_with("tag")) continue;
    EXPECT_EQ(event.step, next.at(static_cast<std::size_t>(event.tag.back() - '0'))++);
  }
  EXPECT_EQ(next, (std::array{kSummaries, kSummaries, kSummaries}));
}

TEST(SummaryWriter, EndsTheSessionOfHyperparameters) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  writer.hyperparameters({{"rate", 0.5}, {"batch", 10}}, {"loss"}, 1);
  writer.scalar("loss", 0.5, 9);
  writer.close();
  const auto events = read_events(writer.path());
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(events[2].tag, "_hparams_/experiment");
  EXPECT_EQ(events[3].tag, "_hparams_/session_start_info");
  EXPECT_EQ(events[5].tag, "_hparams_/session_end_info");
  EXPECT_EQ(events[5].step, 9);
}

// The thread that writes is not in the child of a fork, so a flush() there would wait for ever.
// What the parent has not written yet must be in the file once.
TEST(SummaryWriter, IsLeftToTheProcessThatMadeIt) {
  const TemporaryFolder folder;
  auto writer = std::make_unique<SummaryWriter>(folder.path());
  writer->scalar("loss", 0.5, 1);
  const auto said = testing::said_by_child([&] {
    const std::array<float, 2> values = {1, 2};
    std::string text = testing::not_refused(
        "this SummaryWriter", {{"scalar", [&] { writer->scalar("of the child", 1, 1); }},
                               {"histogram", [&] { writer->histogram("of the child", values, 1); }},
                               {"text", [&] { writer->text("of the child", "hello", 1); }},
                               {"hyperparameters",
                                [&] {
                                  writer->hyperparameters({{"rate", 0.5}}, {"loss"}, 1);
                                }},
                               {"flush", [&] { writer->flush(); }}});
    if (writer->flush_within(std::chrono::milliseconds(1))) text += "flush_within: flushed\n";
    writer->close();
    writer.reset();
    return text;
  });
  EXPECT_EQ(said, "");
  writer->scalar("loss", 0.25, 2);
  writer->close();
  const auto events = read_events(writer->path());
  expect_head(events, 1);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[2].scalar, 0.5F);
  EXPECT_EQ(events[3].scalar, 0.25F);
}

TEST(SummaryWriter, RefusesWhatItCannotWrite) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  const std::array<std::uint8_t, 6> pixels{};
  const auto code_of = [](const auto& call) {
    const auto error = error_of(call);
    return error ? error->code() : ErrorCode{};
  };
  EXPECT_EQ(code_of([&] { writer.scalar("", 1, 1); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { writer.hyperparameters({}, {"a\nb"}, 1); }), ErrorCode::kInvalidArgument);
  const auto error = error_of([&] { writer.scalar("loss\n/train", 1, 1); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(
      error->what(),
      "summary loss?/train: a tag is one line, without control characters, which are shown "
      "as ?");
  writer.scalar("Größe/✓", 1, 1);
  EXPECT_EQ(code_of([&] { writer.image("a", {3, 1, 2}, pixels, 1); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { writer.image("a", {3, 3, 1}, pixels, 1); }), ErrorCode::kInvalidArgument);
  writer.close();
  writer.close();
  EXPECT_EQ(code_of([&] { writer.scalar("a", 1, 1); }), ErrorCode::kClosed);
  EXPECT_EQ(code_of([&] { writer.flush(); }), ErrorCode::kClosed);
}

// A reader refuses an event of which one text is not UTF-8, or stops there.
TEST(SummaryWriter, WritesNoTextThatIsNotUtf8) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  const auto of_tag = error_of([&] { writer.scalar("l\xf6ss", 1, 1); });
  ASSERT_TRUE(of_tag);
  EXPECT_EQ(of_tag->code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(of_tag->what(), "summary l\xef\xbf\xbdss: a tag is UTF-8, and this one is not");
  EXPECT_TRUE(error_of([&] { writer.hyperparameters({{"r\xe4te", 0.5}}, {"loss"}, 1); }));
  EXPECT_TRUE(error_of([&] { writer.hyperparameters({{"rate", 0.5}}, {"l\xf6ss"}, 1); }));
  writer.text("note",
              "Gr\xf6\xdf"
              "e",
              1);
  writer.hyperparameters({{"data", "Bl\xe4tter"}}, {"loss"}, 1);
  writer.close();
  std::ifstream file(writer.path(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(bytes.find("Gr\xef\xbf\xbd\xef\xbf\xbd"
                       "e"),
            std::string::npos);
  EXPECT_NE(bytes.find("Bl\xef\xbf\xbdtter"), std::string::npos);
}

TEST(SummaryWriter, SaysWhyItCannotCreateItsFile) {
  TemporaryFolder folder;
  const auto path = folder.write("file", {1});
  const auto error = error_of([&] { SummaryWriter writer(path); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
  EXPECT_TRUE(std::string(error->what()).starts_with(path.string() + ": ")) << error->what();
}

// Their records of the start would hide each other's points.
TEST(SummaryWriter, RefusesAFolderToWhichAnotherOneWrites) {
  const TemporaryFolder folder;
  const SummaryOptions at_once{.other_writer_wait = std::chrono::milliseconds(0)};
  SummaryWriter first(folder.path(), at_once);
  const std::string name = first.path().filename().string();
  const auto error = error_of([&] { SummaryWriter second(folder.path(), at_once); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
  EXPECT_EQ(error->what(), folder.path().string() + ": another writer is writing " + name +
                               " there; give each run a folder of its own");
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "the refused one leaves no file";
  first.scalar("loss", 0.5, 1);
  first.close();
  EXPECT_EQ(read_events(first.path()).size(), 3U);
  SummaryWriter third(folder.path(), at_once);  // The first one is closed, although it is there.
}

TEST(SummaryWriter, WaitsForAnotherOneToEnd) {
  const TemporaryFolder folder;
  SummaryWriter first(folder.path());
  std::thread closing([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    first.close();
  });
  const SummaryWriter second(folder.path());
  closing.join();
  EXPECT_GT(second.path(), first.path());
}

// A disk of 64 KiB at `path`, for this thread and the threads that it starts, if it can be mounted.
class SmallDisk {
 public:
  explicit SmallDisk(const std::filesystem::path& path) : path_(path) {
    is_there_ = ::unshare(CLONE_NEWNS) == 0 &&
                ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                ::mount("none", path_.c_str(), "tmpfs", 0, "size=64k") == 0;
  }
  ~SmallDisk() {
    if (is_there_) ::umount(path_.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool is_there() const noexcept { return is_there_; }

 private:
  std::filesystem::path path_;
  bool is_there_ = false;
};

// The disk takes only a part of the last record.
TEST(SummaryWriter, LeavesNoHalfRecord) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_there()) GTEST_SKIP() << "no tmpfs can be mounted here";
  SummaryWriter writer(folder.path());
  writer.scalar("loss", 1, 1);
  writer.flush();
  ::testing::internal::CaptureStderr();
  writer.text("long", std::string(100'000, 'x'), 2);
  const auto error = error_of([&] { writer.flush(); });
  ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find("No space left on device; free space"),
            std::string::npos)
      << error->what();
  EXPECT_EQ(read_events(writer.path()).size(), 3U);
  writer.scalar("loss", 3, 3);
  writer.flush();
  const auto events = read_events(writer.path());
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[3].step, 3);
}

// What the disk does not take is dropped and counted. The file stays whole, and goes on when there
// is room again.
TEST(SummaryWriter, GoesOnAfterTheDiskWasFull) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  // Long, so that the limit leaves room for what the writer reports: stderr is a file here.
  writer.text("notes", std::string(20'000, 'x'), 1);
  writer.flush();
  ::testing::internal::CaptureStderr();
  {
    const FullDisk full(std::filesystem::file_size(writer.path()) + 20);
    writer.scalar("loss", 2, 2);
    writer.scalar("loss", 3, 3);
    const auto error = error_of([&] { writer.flush(); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
    const std::string text = error->what();
    EXPECT_TRUE(text.starts_with(writer.path().string() + ": cannot be written after ")) << text;
    EXPECT_TRUE(text.ends_with("; dropped summaries: 2")) << text;
  }
  writer.scalar("loss", 4, 4);
  writer.flush();  // Tells only of what was dropped since the last time.
  EXPECT_EQ(writer.dropped(), 2U);
  writer.close();
  const std::string reported = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(reported.find("dropped summaries: 2 so far\n"), std::string::npos) << reported;
  EXPECT_NE(reported.find("dropped summaries: 2 in all\n"), std::string::npos) << reported;
  const auto events = read_events(writer.path());
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[2].step, 1);
  EXPECT_EQ(events[3].step, 4);
}

// The thread cannot keep up with a queue for two summaries.
TEST(SummaryWriter, CountsWhatAFullQueueDrops) {
  constexpr int kSummaries = 20'000;
  const TemporaryFolder folder;
  ::testing::internal::CaptureStderr();
  SummaryWriter writer(folder.path(), {.queue_summaries = 2});
  for (int i = 0; i < kSummaries; ++i) writer.scalar("loss", i, i);
  writer.close();
  const std::string reported = ::testing::internal::GetCapturedStderr();
  const auto events = read_events(writer.path());
  expect_head(events, 0);
  EXPECT_GT(writer.dropped(), 0U);
  EXPECT_EQ(events.size() - 2 + writer.dropped(), static_cast<std::size_t>(kSummaries));
  EXPECT_EQ(events.back().step, kSummaries - 1);  // The oldest are dropped, not the newest.
  EXPECT_NE(reported.find("the queue was full"), std::string::npos) << reported;
}

}  // namespace
}  // namespace rota
