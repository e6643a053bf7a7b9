// simulate SEED              replays one seed, and prints its scenario
// simulate --seeds N [FROM]  runs N seeds, and counts the seeds that met each failure in each place
// Exits with 1 if a world has ended in a wrong way.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/coverage.h"
#include "simulation/world.h"

namespace rota::simulation {
namespace {

// Ranks that die or stop are never cleaned up, so a process runs only this many seeds.
constexpr std::uint64_t kSeedsAProcess = 200;

// This many seeds meet each failure in each kind of call and at each place.
constexpr std::uint64_t kSeedsThatMeetAll = 10'000;

// After this many failed seeds no further process starts.
constexpr std::uint64_t kMostWrong = 1;

// Shared with the process that runs the seeds.
struct Report {
  std::uint64_t seed = 0;  // The current seed.
  std::uint64_t wrong = 0;
  Coverage coverage;
};

bool run_one(std::uint64_t seed, Coverage& coverage, bool tells) {
  const Scenario scenario(seed);
  if (tells) std::printf("%s\n", scenario.to_text().c_str());
  const auto findings = World(scenario).run(coverage);
  if (findings.empty()) {
    if (tells) std::printf("nothing is wrong\n");
    return true;
  }
  if (!tells) std::printf("%s\n", scenario.to_text().c_str());
  for (const std::string& finding : findings) std::printf("  WRONG: %s\n", finding.c_str());
  std::fflush(stdout);
  return false;
}

void run_some(std::uint64_t from, std::uint64_t count, Report& report) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) {
    std::perror("simulate: fork");
    std::exit(2);
  }
  if (child == 0) {
    for (report.seed = from; report.seed < from + count; ++report.seed) {
      if (!run_one(report.seed, report.coverage, false)) ++report.wrong;
    }
    std::_Exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status == 0) return;
  ++report.wrong;
  std::printf("%s\n  WRONG: this world ended the process (status %d)\n",
              Scenario(report.seed).to_text().c_str(), status);
  const std::uint64_t next = report.seed + 1;
  if (next < from + count) run_some(next, from + count - next, report);
}

int run_many(std::uint64_t from, std::uint64_t count) {
  void* const shared =
      ::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    std::perror("simulate: mmap");
    return 2;
  }
  Report& report = *new (shared) Report;
  std::uint64_t done = 0;
  while (done < count && report.wrong < kMostWrong) {
    const std::uint64_t next = std::min(kSeedsAProcess, count - done);
    run_some(from + done, next, report);
    done += next;
  }
  std::printf("%s%llu seeds, %llu wrong\n", report.coverage.to_text().c_str(),
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(report.wrong));
  const std::string gaps = done < kSeedsThatMeetAll ? "" : report.coverage.gaps();
  if (!gaps.empty()) std::printf("WRONG: the seeds never meet\n%s", gaps.c_str());
  return report.wrong == 0 && gaps.empty() ? 0 : 1;
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

int usage() {
  std::fprintf(stderr, "usage: simulate SEED | --seeds N [FROM]\n");
  return 64;
}

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  if (words.size() == 1) {
    const auto seed = number_in(words[0]);
    Coverage coverage;
    return !seed ? usage() : run_one(*seed, coverage, true) ? 0 : 1;
  }
  if (words.size() < 2 || words.size() > 3 || words[0] != "--seeds") return usage();
  const auto count = number_in(words[1]);
  const auto from = words.size() == 3 ? number_in(words[2]) : std::optional<std::uint64_t>(1);
  return count && from ? run_many(*from, *count) : usage();
}

}  // namespace
}  // namespace rota::simulation

int main(int argc, char** argv) { return rota::simulation::main(argc, argv); }
