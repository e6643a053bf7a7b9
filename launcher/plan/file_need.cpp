// How many files a job has open at once on one host.
#include "launcher/plan/file_need.h"

#include "base/transports.h"

namespace rota::launcher {
namespace {

// A rank has one for each other, to reach it or its memory, and six of its own. Where it reaches
// both, it has one for each arena of its host too.
constexpr std::size_t kOfProgram = 16;

// For each rank two pipes, a line, what it is lent, and a port that is set aside for it; with
// --output-filename two files. For each host a trunk and, while it comes, a connection.
// Beside them all arenas, where ranks of other rotaruns share memory with ours.
constexpr std::size_t kOfRotarun = 16;
constexpr std::size_t kForEachRank = 6;
constexpr std::size_t kForEachOutput = 2;
constexpr std::size_t kForEachHost = 2;

std::string lack(const std::string& who, std::size_t needed, std::uint64_t allowed,
                 const std::string& flag) {
  return who + " may open " + std::to_string(allowed) + " files (ulimit " + flag +
         "), and this job takes about " + std::to_string(needed) + ": raise the limit";
}

}  // namespace

FileNeed files_needed(const Share& share, const Options& options) {
  const std::size_t process_count = share.ranks.size() + share.evaluators.size();
  const bool has_files = !options.output_directory.empty() && !share.sends_output;
  const std::size_t output_count = has_files ? process_count + share.guests.size() : 0;
  const bool has_both =
      base::listens(share.transport) && base::sharing_over(share.transport) != base::Sharing::kNone;
  const std::size_t arena_count = has_both ? share.ranks.size() : 0;
  return {.of_rank = kOfProgram + share.world_size + arena_count,
          .of_rotarun = kOfRotarun + kForEachRank * process_count + arena_count +
                        share.arenas.size() + kForEachOutput * output_count +
                        kForEachHost * share.host_count};
}

std::string lack_of_files(const FileNeed& need, const os::OpenFileLimits& limits) {
  if (limits.hard < need.of_rotarun) {
    return lack("rotarun", need.of_rotarun, limits.hard, "-Hn");
  }
  if (limits.soft < need.of_rank) return lack("each rank", need.of_rank, limits.soft, "-Sn");
  return {};
}

}  // namespace rota::launcher
