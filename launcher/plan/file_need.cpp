// Counts the files that a job has open at the same time on one host.
#include "launcher/plan/file_need.h"

#include "base/transports.h"

namespace rota::launcher {
namespace {

// A rank has one file for each other rank: a socket, or memory of the other rank. It has six more
// for rota, and a few for the program. If its transport uses both sockets and shared memory, it
// also has one for each arena of its host.
constexpr std::size_t kOfProgram = 16;

// rotarun has, for each rank: two pipes, a connection, the descriptors that it hands over, and the
// port that it claims for the rank; with --output-filename two more files. For each host, rotarun
// has a launcher link and, while the host connects, a connection. If ranks of several rotaruns
// share memory, it also has all arenas.
constexpr std::size_t kOfRotarun = 16;
constexpr std::size_t kForEachRank = 6;
constexpr std::size_t kForEachOutput = 2;
constexpr std::size_t kForEachHost = 2;

std::string lack(const std::string& who, std::size_t needed, std::uint64_t allowed,
                 const std::string& flag) {
  return who + " may open " + std::to_string(allowed) + " files (ulimit " + flag +
         "), but this job needs about " + std::to_string(needed) + ": raise the limit";
}

}  // namespace

FileNeed files_needed(const HostAssignment& assignment, const Options& options) {
  const std::size_t process_count = assignment.ranks.size() + assignment.evaluators.size();
  const bool has_files = !options.output_directory.empty() && !assignment.sends_output;
  const std::size_t output_count = has_files ? process_count + assignment.remote_members.size() : 0;
  const bool has_both = base::listens(assignment.transport) &&
                        base::sharing_over(assignment.transport) != base::Sharing::kNone;
  const std::size_t arena_count = has_both ? assignment.ranks.size() : 0;
  return {.of_rank = kOfProgram + assignment.world_size + arena_count,
          .of_rotarun = kOfRotarun + kForEachRank * process_count + arena_count +
                        assignment.arenas.size() + kForEachOutput * output_count +
                        kForEachHost * assignment.host_count};
}

std::string lack_of_files(const FileNeed& need, const os::OpenFileLimits& limits) {
  if (limits.hard < need.of_rotarun) {
    return lack("rotarun", need.of_rotarun, limits.hard, "-Hn");
  }
  if (limits.soft < need.of_rank) return lack("each rank", need.of_rank, limits.soft, "-Sn");
  return {};
}

}  // namespace rota::launcher
