// How many files a job has open at once on one host, held against what the host allows.
#pragma once
#include <cstddef>
#include <string>

#include "launcher/command/options.h"
#include "launcher/plan/host_share.h"
#include "os/host.h"

namespace rota::launcher {

struct FileNeed {
  std::size_t of_rank = 0;     // Of one that uses rota, with a few for the program itself.
  std::size_t of_rotarun = 0;  // While it starts them.
};

FileNeed files_needed(const Share& share, const Options& options);

// Empty where all have enough; else who has not, and what to do. A rank has the soft limit, rotarun
// raises its own to the hard one.
std::string lack_of_files(const FileNeed& need, const os::OpenFileLimits& limits);

}  // namespace rota::launcher
