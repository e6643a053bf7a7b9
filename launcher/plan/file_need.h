// Compares the number of files that a job has open on one host with the limits of the host.
#pragma once
#include <cstddef>
#include <string>

#include "launcher/command/options.h"
#include "launcher/plan/host_assignment.h"
#include "os/host.h"

namespace rota::launcher {

struct FileNeed {
  std::size_t of_rank = 0;     // Files of a rank that uses rota, with a few for the program.
  std::size_t of_rotarun = 0;  // Files of rotarun while it starts the ranks.
};

FileNeed files_needed(const HostAssignment& assignment, const Options& options);

// Returns an empty text if the limits suffice. Otherwise the text names the process that has too
// few files, and says what to do. A rank keeps the soft limit; rotarun raises its own soft limit to
// the hard limit.
std::string lack_of_files(const FileNeed& need, const os::OpenFileLimits& limits);

}  // namespace rota::launcher
