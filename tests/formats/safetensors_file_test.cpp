// A safetensors file is read in place as it was written, and appears under its name only when it is
// whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rota/safetensors.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <limits>
#include <numeric>

#include "formats/replacing_file.h"
#include "testing/error_of.h"
#include "testing/paths.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

template <class T>
std::vector<T> counted(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i + 1);
  return values;
}

template <class T>
std::span<const T> values_of(const NamedTensor& tensor) {
  EXPECT_EQ(tensor.values.type(), data_type_of<T>());
  return {reinterpret_cast<const T*>(tensor.values.data()), tensor.values.count()};
}

class SafetensorsFileTest : public ::testing::Test {
 protected:
  std::filesystem::path path(const std::string& name = "model.safetensors") const {
    return folder_.path() / name;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  // Writes a header, and `data_bytes` bytes of data that count from 0.
  void write_by_hand(const std::string& json, std::size_t data_bytes) const {
    std::ofstream file(path(), std::ios::binary);
    const std::uint64_t length = json.size();
    for (int i = 0; i < 8; ++i) file.put(static_cast<char>((length >> (8 * i)) & 0xff));
    file << json;
    for (std::size_t i = 0; i < data_bytes; ++i) file.put(static_cast<char>(i));
  }

  void write_one(float value, const std::string& name = "model.safetensors") const {
    const std::vector<float> values = {value};
    write_safetensors(path(name), std::vector<NamedTensor>{{"a", {1}, values}});
  }

  testing::TemporaryFolder folder_;
};

TEST_F(SafetensorsFileTest, HasEveryTypeAndTheMetadata) {
  const auto f32 = counted<float>(6);
  const auto f64 = counted<double>(1);
  const auto i8 = counted<std::int8_t>(3);
  const auto u8 = counted<std::uint8_t>(5);
  const auto i32 = counted<std::int32_t>(4);
  const auto i64 = counted<std::int64_t>(2);
  std::vector<Float16> f16(3);
  std::vector<Bfloat16> bf16(3);
  f16[1] = Float16::from_bits(0x1234);
  bf16[2] = Bfloat16::from_bits(0x4321);
  const std::vector<float> none;
  write_safetensors(path(),
                    std::vector<NamedTensor>{{"f32", {2, 3}, f32},
                                             {"f64", {}, f64},
                                             {"i8", {3}, i8},
                                             {"u8", {5, 1}, u8},
                                             {"i32", {4}, i32},
                                             {"i64", {2}, i64},
                                             {"f16", {3}, f16},
                                             {"bf16", {3}, bf16},
                                             {"none", {0, 7}, none}},
                    {{"format", "pt"}});
  const SafetensorsFile file(path());
  EXPECT_EQ(file.tensors().size(), 9U);
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_THAT(file.tensor("f32").shape, ElementsAre(2, 3));
  EXPECT_EQ(file.tensor("f32").type_name, "F32");
  EXPECT_THAT(values_of<float>(file.tensor("f32")), ::testing::ElementsAreArray(f32));
  EXPECT_THAT(values_of<double>(file.tensor("f64")), ::testing::ElementsAreArray(f64));
  EXPECT_THAT(values_of<std::int8_t>(file.tensor("i8")), ::testing::ElementsAreArray(i8));
  EXPECT_THAT(values_of<std::uint8_t>(file.tensor("u8")), ::testing::ElementsAreArray(u8));
  EXPECT_THAT(values_of<std::int32_t>(file.tensor("i32")), ::testing::ElementsAreArray(i32));
  EXPECT_THAT(values_of<std::int64_t>(file.tensor("i64")), ::testing::ElementsAreArray(i64));
  EXPECT_EQ(values_of<Float16>(file.tensor("f16"))[1].bits(), 0x1234);
  EXPECT_EQ(values_of<Bfloat16>(file.tensor("bf16"))[2].bits(), 0x4321);
  EXPECT_EQ(file.tensor("none").values.count(), 0U);
}

// The order of the tensors in the call does not matter.
TEST_F(SafetensorsFileTest, HasTheSameBytesForTheSameTensors) {
  const auto a = counted<float>(3);
  const auto b = counted<double>(2);
  write_safetensors(path("ab"), std::vector<NamedTensor>{{"a", {3}, a}, {"b", {2}, b}});
  write_safetensors(path("ba"), std::vector<NamedTensor>{{"b", {2}, b}, {"a", {3}, a}});
  const auto bytes_of_file = [&](const std::string& name) {
    std::ifstream file(path(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(bytes_of_file("ab"), bytes_of_file("ba"));
  EXPECT_EQ((bytes_of_file("ab").size() - 28) % 64, 0U);
}

TEST_F(SafetensorsFileTest, IsReplacedAndLeavesNoOtherFile) {
  write_one(1);
  write_one(2);
  EXPECT_EQ(values_of<float>(SafetensorsFile(path()).tensor("a"))[0], 2);
  EXPECT_THAT(names(), ElementsAre("model.safetensors"));
}

// Runs `act` as process 1, as a container does. Where the system does not allow that, the process
// has another number. Returns its exit code, or 2 if a signal has ended it.
int run_as_first(const std::function<void()>& act) {
  const pid_t helper = ::fork();
  if (helper == 0) {
    if (::unshare(CLONE_NEWPID) != 0) (void)::unshare(CLONE_NEWUSER | CLONE_NEWPID);
    const pid_t first = ::fork();
    if (first == 0) {
      try {
        act();
        ::_exit(0);
      } catch (const Error&) {
        ::_exit(1);
      }
    }
    int status = 0;
    ::waitpid(first, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
  }
  int status = 0;
  ::waitpid(helper, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

// When a container starts again in its pod, its processes have the same numbers as before.
TEST_F(SafetensorsFileTest, IsWrittenBesideWhatAKilledProcessOfTheSameNumberLeft) {
  const auto write_and_die = [this] {
    formats::ReplacingFile file(path());
    ::_exit(0);
  };
  EXPECT_EQ(run_as_first(write_and_die), 0);
  EXPECT_EQ(run_as_first([this] { write_one(2); }), 0);
  EXPECT_EQ(values_of<float>(SafetensorsFile(path()).tensor("a"))[0], 2);
}

// An open SafetensorsFile still has the old content after another file has taken its name.
TEST_F(SafetensorsFileTest, StaysReadableWhenItIsReplaced) {
  write_one(1);
  const SafetensorsFile file(path());
  write_one(2);
  EXPECT_EQ(values_of<float>(file.tensor("a"))[0], 1);
}

// A test that fills a disk would need a disk of its own. So this test lowers the limit of file
// sizes, which makes write() fail too.
TEST_F(SafetensorsFileTest, IsUnchangedIfTheNewOneCannotBeWritten) {
  write_one(1);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto many = counted<float>(5000);
  const auto error = error_of([&] {
    write_safetensors(path(), std::vector<NamedTensor>{{"a", {5000}, many}});
  });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
  EXPECT_EQ(values_of<float>(SafetensorsFile(path()).tensor("a"))[0], 1);
  EXPECT_THAT(names(), ElementsAre("model.safetensors"));
}

TEST_F(SafetensorsFileTest, IsNotWrittenIfTheTensorsMakeNoSense) {
  constexpr std::size_t kHalf = std::numeric_limits<std::size_t>::max() / 2;
  const auto values = counted<float>(3);
  const std::vector<std::byte> bytes(3);
  const auto refusal = [&](std::vector<NamedTensor> tensors) {
    const auto error = error_of([&] { write_safetensors(path(), tensors); });
    return error && error->code() == ErrorCode::kInvalidArgument ? error->what() : std::string();
  };
  EXPECT_THAT(refusal({{"a", {4}, values}}),
              HasSubstr("tensor \"a\" has 3 values, but its shape needs 4"));
  EXPECT_THAT(refusal({{"a", {kHalf, kHalf}, values}}), HasSubstr("more than can be counted"));
  EXPECT_THAT(refusal({{"a", {3}, values}, {"a", {3}, values}}), HasSubstr("have the name \"a\""));
  EXPECT_THAT(refusal({{"a", {3}, bytes}}), HasSubstr("elements of type byte"));
  EXPECT_TRUE(names().empty());
}

TEST_F(SafetensorsFileTest, IsNotWrittenOverAPipeOrIntoNoFolder) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  auto error = error_of([&] { write_one(1, "pipe"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
  EXPECT_THAT(error->what(), HasSubstr("it is not a regular file"));
  error = error_of([&] { write_one(1, "nowhere/model.safetensors"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCannotWrite);
}

TEST_F(SafetensorsFileTest, IsReadThroughALink) {
  write_one(3);
  std::filesystem::create_symlink("model.safetensors", path("link"));
  const SafetensorsFile file(path("link"));
  EXPECT_EQ(values_of<float>(file.tensor("a"))[0], 3);
  EXPECT_EQ(file.path(), path("link"));
}

TEST_F(SafetensorsFileTest, IsNothingButARegularFile) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::filesystem::create_directory(path("folder"));
  std::filesystem::create_symlink("pipe", path("link"));
  std::filesystem::create_symlink("gone", path("dangling"));
  const auto code_of = [&](const std::filesystem::path& name) {
    const auto error = error_of([&] { SafetensorsFile file(name); });
    return error ? error->code() : ErrorCode::kClosed;
  };
  EXPECT_EQ(code_of(path("pipe")), ErrorCode::kBadData);
  EXPECT_EQ(code_of(path("folder")), ErrorCode::kBadData);
  EXPECT_EQ(code_of(path("link")), ErrorCode::kBadData);
  EXPECT_EQ(code_of("/dev/zero"), ErrorCode::kBadData);
  EXPECT_EQ(code_of(path("dangling")), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(path("gone")), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(path("gone/too")), ErrorCode::kNotFound);
}

TEST_F(SafetensorsFileTest, IsRefusedIfItIsEmptyOrCutOff) {
  write_one(1);
  const auto bytes = std::filesystem::file_size(path());
  for (std::uintmax_t left = 0; left < bytes; ++left) {
    std::filesystem::resize_file(path(), left);
    const auto error = error_of([&] { SafetensorsFile file(path()); });
    ASSERT_TRUE(error) << left;
    EXPECT_EQ(error->code(), ErrorCode::kBadData);
    EXPECT_THAT(error->what(), ::testing::StartsWith(path().string() + ": "));
    write_one(1);
  }
}

// The file has a hole of 8 GiB in place of what its header announces. A 32-bit program has
// addresses for 512 MiB.
TEST_F(SafetensorsFileTest, TakesNoMemoryForWhatItAnnounces) {
  constexpr std::size_t kHole = std::size_t{1} << (sizeof(std::size_t) == 8 ? 33 : 29);
  const std::string hole = std::to_string(kHole);
  write_by_hand(R"({"a":{"dtype":"U8","shape":[)" + hole + R"(],"data_offsets":[0,)" + hole + "]}}",
                0);
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) + kHole);
  EXPECT_EQ(SafetensorsFile(path()).tensor("a").values.count(), kHole);
}

// The header has 60 bytes, so that the data begins at byte 68, and "b" at byte 69.
TEST_F(SafetensorsFileTest, CopiesATensorThatIsNotAligned) {
  write_by_hand(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                R"("b":{"dtype":"I32","shape":[2],"data_offsets":[1,9]},)"
                R"("c":{"dtype":"BOOL","shape":[3],"data_offsets":[9,12]}})",
                12);
  SafetensorsFile file(path());
  const SafetensorsFile moved(std::move(file));
  const NamedTensor& tensor = moved.tensor("b");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.values.data()) % 4, 0U);
  EXPECT_THAT(values_of<std::int32_t>(tensor), ElementsAre(0x04030201, 0x08070605));
  EXPECT_EQ(moved.tensor("c").type_name, "BOOL");
  EXPECT_THAT(values_of<std::byte>(moved.tensor("c")),
              ElementsAre(std::byte{9}, std::byte{10}, std::byte{11}));
}

TEST_F(SafetensorsFileTest, NamesTheMostSimilarTensor) {
  const auto values = counted<float>(1);
  write_safetensors(path(), std::vector<NamedTensor>{{"dense.weights", {1}, values},
                                                     {"dense.biases", {1}, values}});
  const SafetensorsFile file(path());
  EXPECT_EQ(file.find("dense.weight"), nullptr);
  const auto error = error_of([&] { file.tensor("dense.weight"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error->what(), HasSubstr("has no tensor \"dense.weight\"; the most similar name is "
                                       "\"dense.weights\""));
}

}  // namespace
}  // namespace rota
