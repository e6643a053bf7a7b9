// Damage to a checkpoint is always found, and named. Method: a checkpoint is damaged in each of its
// bits and lengths, and by putting other things in the place of its files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include <rota/error.h>

#include "checkpoint/reader.h"
#include "checkpoint/sample_checkpoint.h"
#include "formats/safetensors.h"
#include "kernels/crc32c.h"
#include "testing/error_of.h"
#include "training/temporary_folder.h"

namespace rota::checkpoint {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

class Damage : public ::testing::Test {
 protected:
  Damage() : manifest_(write_sample(path())) {}

  std::string path() const { return (temporary_.path() / "a").string(); }
  std::string path(const std::string& name) const { return path() + "/" + name; }

  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names = {kManifestName};
    for (const ManifestFile& file : manifest_.files) names.push_back(file.name);
    return names;
  }

  // Returns what the reader says about the checkpoint. The error must be kBadData, with one line.
  std::string refusal() const {
    const auto error = error_of([&] { CheckpointReader reader(path()); });
    if (!error) return "accepted";
    EXPECT_EQ(error->code(), ErrorCode::kBadData) << error->what();
    EXPECT_EQ(std::string(error->what()).find('\n'), std::string::npos) << error->what();
    return error->what();
  }

  // Writes other contents, and a manifest with the sums of these contents.
  void replace(const std::string& name, const std::string& contents) {
    write(name, contents);
    for (ManifestFile& file : manifest_.files) {
      if (file.name != name) continue;
      file.bytes = contents.size();
      file.sums = {kernels::crc32c(std::as_bytes(std::span(contents)))};
    }
    write(kManifestName, encode(manifest_));
  }

  testing::TemporaryFolder temporary_;
  Manifest manifest_;
};

TEST_F(Damage, OfOneBitIsFound) {
  for (const std::string& name : names()) {
    const std::string whole = read(name);
    std::fstream file(path(name), std::ios::binary | std::ios::in | std::ios::out);
    const auto put = [&](std::size_t at, char value) {
      file.seekp(static_cast<std::streamoff>(at)).put(value).flush();
    };
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        put(at, static_cast<char>(whole[at] ^ (1 << bit)));
        ASSERT_THAT(refusal(), HasSubstr(name + ": is damaged")) << at << ", bit " << bit;
      }
      put(at, whole[at]);
    }
  }
  EXPECT_EQ(refusal(), "accepted");
}

TEST_F(Damage, OfTheLengthIsFound) {
  for (const std::string& name : names()) {
    const std::string whole = read(name);
    for (std::size_t length = whole.size(); length-- > 0;) {
      std::filesystem::resize_file(path(name), length);
      ASSERT_THAT(refusal(), HasSubstr(name + ": ")) << length;
    }
    write(name, whole + '\0');
    EXPECT_THAT(refusal(), HasSubstr(name + ": ")) << "longer";
    write(name, whole);
  }
  EXPECT_EQ(refusal(), "accepted");
}

// Writes a checkpoint with one file of three MiB, and returns the entry of the file.
ManifestFile write_three_mib(const std::string& folder) {
  SampleWriter writer(folder);
  const TensorInfo large{"model/large", DataType::kUint8, {(2 << 20) + 17}};
  writer.manifest.tensors = {large};
  writer.add(large);
  writer.write({FileKind::kParameters, 0, 1});
  writer.finish();
  return writer.manifest.files[0];
}

// Flips a bit in MiB `number` of a file. Returns the place and the byte before.
std::pair<std::streamoff, char> flip_in_mib(std::fstream& bytes, std::size_t number) {
  const std::streamoff at = static_cast<std::streamoff>(number << 20) + 130;
  const char before = static_cast<char>(bytes.seekg(at).peek());
  bytes.seekp(at).put(static_cast<char>(before ^ 1)).flush();
  return {at, before};
}

// Method: one byte of each MiB is changed in turn.
TEST_F(Damage, NamesTheMiBAndBothSums) {
  const std::string folder = (temporary_.path() / "large").string();
  const ManifestFile entry = write_three_mib(folder);
  const std::string file = folder + "/" + entry.name;
  for (std::size_t i = 0; i < 3; ++i) {
    std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
    const auto [at, before] = flip_in_mib(bytes, i);
    const auto error = error_of([&] { CheckpointReader reader(folder); });
    ASSERT_TRUE(error);
    EXPECT_THAT(error->what(),
                HasSubstr(file + ": is damaged in MiB " + std::to_string(i) + " (from byte " +
                          std::to_string(i << 20) + " on): its CRC32C is "));
    EXPECT_THAT(error->what(), HasSubstr(", but the manifest says " + sum_text(entry.sums[i])));
    bytes.seekp(at).put(before).flush();
  }
}

// Method: each of two readers checks its share of three damaged MiBs.
TEST_F(Damage, IsFoundByTheReaderWhoseShareItIsIn) {
  const std::string folder = (temporary_.path() / "large").string();
  const std::string file = folder + "/" + write_three_mib(folder).name;
  for (std::size_t i = 0; i < 3; ++i) {
    std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
    const auto [at, before] = flip_in_mib(bytes, i);
    for (const std::size_t index : {0, 1}) {
      const auto error = error_of([&] { CheckpointReader reader(folder, {index, 2}); });
      EXPECT_EQ(error.has_value(), i % 2 == index) << "MiB " << i << ", reader " << index;
    }
    bytes.seekp(at).put(before).flush();
  }
}

TEST_F(Damage, BySwappedOrMissingFilesIsFound) {
  const auto files = names();
  for (const std::string& name : files) {
    const std::string whole = read(name);
    std::filesystem::remove(path(name));
    EXPECT_THAT(refusal(), HasSubstr(name + ": is missing, but"));
    for (const std::string& other : files) {
      if (other == name) continue;
      write(name, read(other));
      EXPECT_THAT(refusal(), HasSubstr(name + ": ")) << "contents of " << other;
    }
    write(name, whole);
  }
  EXPECT_EQ(refusal(), "accepted");
}

TEST_F(Damage, ByFilesOfAnotherCheckpointIsFound) {
  const std::string other = (temporary_.path() / "b").string();
  SampleWriter writer(other);
  writer.add({"model/w", DataType::kFloat64, {5, 3}}, {2, 3});
  writer.write({FileKind::kParameters, 1, 2});
  const std::string name = writer.manifest.files[0].name;
  std::filesystem::copy_file(other + "/" + name, path(name),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(refusal(), HasSubstr(name + ": has "));
}

// Method: without a writer, a pipe would block an open or a read for ever.
TEST_F(Damage, ByPipesLinksAndFoldersIsFoundWithoutWaiting) {
  for (const std::string& name : names()) {
    std::filesystem::rename(path(name), path("aside"));
    ASSERT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
    EXPECT_THAT(refusal(), HasSubstr(name + ": is a pipe, expected a regular file"));
    std::filesystem::remove(path(name));
    std::filesystem::create_symlink("aside", path(name));
    EXPECT_THAT(refusal(), HasSubstr(name + ": is a symbolic link, expected a regular file"));
    std::filesystem::remove(path(name));
    std::filesystem::create_directory(path(name));
    EXPECT_THAT(refusal(), HasSubstr(name + ": is a folder, expected a regular file"));
    std::filesystem::remove(path(name));
    std::filesystem::rename(path("aside"), path(name));
  }
  EXPECT_EQ(refusal(), "accepted");
}

// The sums are right here: the attacker has computed them.
TEST_F(Damage, OfAHeaderThatClaimsTooMuchIsFound) {
  const std::string name = to_text({FileKind::kParameters, 1, 2});
  replace(name, std::string(7, '\0') + '\x80' + "{}");  // A header of 2^63 bytes.
  EXPECT_THAT(refusal(), HasSubstr(name));
  const std::string deep(10'000, '[');
  replace(name, std::string("\x16\x27\0\0\0\0\0\0", 8) + "{\"a\":" + deep + "}");
  EXPECT_THAT(refusal(), HasSubstr(name));
  replace(name, "x");
  EXPECT_THAT(refusal(), HasSubstr(name));
}

TEST_F(Damage, OfACounterOrOfRowsIsFound) {
  const std::string rank = to_text({FileKind::kRank, 1, 2});
  std::string text = read(rank);
  text.replace(text.find("1844674407370955161"), 1, "-");
  replace(rank, text);
  EXPECT_THAT(refusal(), HasSubstr(rank + ": has \"counter/seconds\" \"-844674407370955161"));
  std::filesystem::remove_all(path());
  manifest_ = write_sample(path());
  const std::string name = to_text({FileKind::kParameters, 1, 2});
  text = read(name);
  text.replace(text.find("2..4 of 5"), 9, "2..5 of 5");
  replace(name, text);
  EXPECT_THAT(refusal(), HasSubstr("has the rows \"2..5 of 5\" of the tensor \"model/w\""));
}

}  // namespace
}  // namespace rota::checkpoint
