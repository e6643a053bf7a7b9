// The pages agree with the code: every block of C++ is a file of this tree, every console block
// prints what it shows, and every link has a target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "docs/pages.h"
#include "testing/paths.h"
#include "testing/process.h"
#include "training/temporary_folder.h"

namespace rota {
namespace {

const std::filesystem::path kRoot = testing::source_path();
constexpr const char* kPrograms = "tests/docs/programs/";  // Each program is built as docs_NAME.
// Each of these programs is run under the mpirun of each MPI, in tests/over_mpi.
constexpr const char* kMpiPrograms = "tests/docs/mpi_programs/";
constexpr const char* kExample = "examples/your_own_model/";  // Another test builds and runs it.

std::vector<testing::CodeBlock> all_blocks(const std::string& language) {
  std::vector<testing::CodeBlock> blocks;
  for (const std::string& page : testing::all_pages(kRoot)) {
    for (auto& block : testing::blocks_of(page, testing::text_of(kRoot / page))) {
      if (block.language == language) blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

std::string place_of(const testing::CodeBlock& block) {
  return block.page + ":" + std::to_string(block.line);
}

TEST(Docs, ShowTheCodeThatIsBuilt) {
  std::set<std::string> shown;
  for (const auto& block : all_blocks("cpp")) {
    const auto is_in = [&](const char* folder) { return block.marker.starts_with(folder); };
    ASSERT_TRUE(is_in(kPrograms) || is_in(kMpiPrograms) || is_in(kExample))
        << place_of(block) << ": a block that is no file's";
    EXPECT_EQ(block.text, testing::text_of(kRoot / block.marker)) << place_of(block);
    shown.insert(block.marker);
  }
  for (const std::string folder : {kPrograms, kMpiPrograms}) {
    for (const auto& entry : std::filesystem::directory_iterator(kRoot / folder)) {
      EXPECT_TRUE(shown.contains(folder + entry.path().filename().string()))
          << entry.path() << " is on no page";
    }
  }
}

TEST(Docs, HaveNoBlockWhoseLanguageNobodyKnows) {
  const std::set<std::string> known = {"cpp", "sh", "console", "cmake", "text"};
  for (const std::string& page : testing::all_pages(kRoot)) {
    for (const auto& block : testing::blocks_of(page, testing::text_of(kRoot / page))) {
      EXPECT_TRUE(known.contains(block.language)) << place_of(block) << ": " << block.language;
    }
  }
}

// Returns the words of a command, with the paths of programs. "./darts" is the program of that name
// in kPrograms.
std::vector<std::string> arguments_of(const testing::Typed& typed) {
  std::vector<std::string> arguments;
  for (const std::string& word : typed.words) {
    if (word == "rotarun") {
      arguments.push_back(testing::rotarun_path());
      for (const char* more : {"--deadline", "20", "--timeout", "60"}) arguments.emplace_back(more);
    } else if (word.starts_with("./")) {
      arguments.push_back(testing::test_path("docs_") + word.substr(2));
    } else {
      arguments.push_back(word);
    }
  }
  return arguments;
}

TEST(Docs, ShowWhatProgramsSay) {
  std::set<std::string> run;
  for (const auto& block : all_blocks("console")) {
    const testing::TemporaryFolder folder;  // Some programs write files.
    for (const auto& typed : testing::typed_in(block.text)) {
      ASSERT_FALSE(typed.words.empty()) << place_of(block);
      testing::Command command;
      command.arguments = arguments_of(typed);
      command.directory = folder.path().string();
      const testing::Result result = testing::run(std::move(command));
      EXPECT_EQ(result.exit_code, 0) << place_of(block) << ": " << result.err;
      EXPECT_EQ(result.out, typed.output) << place_of(block) << ": " << result.err;
      run.insert(typed.words.begin(), typed.words.end());
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / kPrograms)) {
    EXPECT_TRUE(run.contains("./" + entry.path().stem().string()))
        << "no page runs " << entry.path();
  }
}

TEST(Docs, LinkToWhatIsThere) {
  std::size_t count = 0;
  for (const std::string& page : testing::all_pages(kRoot)) {
    const std::filesystem::path folder = (kRoot / page).parent_path();
    for (const std::string& target : testing::links_of(testing::text_of(kRoot / page))) {
      EXPECT_TRUE(std::filesystem::exists(folder / target)) << page << ": " << target;
      ++count;
    }
  }
  EXPECT_GT(count, 10u);
}

}  // namespace
}  // namespace rota
