// Makes and removes the folders in which MPI keeps its files on this host.
#include "launcher/mpi/pmix/session_folders.h"

#include <array>
#include <filesystem>
#include <span>
#include <system_error>

#include <rota/error.h>

#include "base/hex.h"
#include "cluster/environment.h"
#include "launcher/mpi/mpich_memory.h"
#include "os/file.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

constexpr const char* kSharedMemory = "/dev/shm/";

std::string new_name() {
  std::array<std::byte, 16> bytes{};
  os::fill_with_randomness(bytes);
  return "rotarun-mpi-" + base::to_hex(bytes);
}

}  // namespace

// The path is absolute: with --wdir, ranks and rotarun have different working directories.
SessionFolders::SessionFolders(const std::vector<std::string>& environment) : name_(new_name()) {
  std::string chosen = cluster::find_variable(environment, "TMPDIR");
  is_default_ = chosen.empty();
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(chosen, error);
  if (!error) chosen = absolute.string();
  const std::string folder_name = new_name();
  folder_ = (is_default_ ? "/tmp" : chosen) + "/" + folder_name;
  memory_folder_ = kSharedMemory + folder_name;
}

SessionFolders::~SessionFolders() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
  if (!memory_folder_.empty()) std::filesystem::remove_all(memory_folder_, ignored);
  remove_mpich_memory(name_);
}

void SessionFolders::make() {
  if (os::make_private_folder(memory_folder_)) memory_folder_.clear();
  const auto failure = os::make_private_folder(folder_);
  if (!failure) return;
  // The file system of a pod is often read-only, but each pod has shared memory.
  const std::string in_memory = memory_folder_ + "/files";
  if (is_default_ && !memory_folder_.empty() && !os::make_private_folder(in_memory)) {
    folder_ = in_memory;
    return;
  }
  throw Error(ErrorCode::kSystem, "MPI needs a folder for its files, but " + folder_ +
                                      " cannot be made: " + *failure +
                                      "; let TMPDIR name a folder that can be written to");
}

}  // namespace rota::launcher
