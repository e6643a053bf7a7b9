// The session folders of a job on this host have the files of MPI: those of the PMIx server and of
// the ranks. MPI leaves them behind if it is killed, so they are removed as a whole.
#pragma once
#include <string>
#include <vector>

namespace rota::launcher {

// A guard makes this object before it makes its inner process, so each of the two removes the
// folders when it ends: whichever of them is killed, the other one does it.
class SessionFolders {
 public:
  // Chooses names that no other job has. `environment`: TMPDIR says where files go.
  explicit SessionFolders(const std::vector<std::string>& environment);
  SessionFolders(const SessionFolders&) = delete;
  SessionFolders& operator=(const SessionFolders&) = delete;
  ~SessionFolders();

  // Makes the folders, for this user only. Without TMPDIR, the files may be in the memory folder:
  // in a pod, /tmp is often read-only. Throws Error kSystem if there is no place for files.
  void make();

  // A name for the job's MPI world, which no other job has and nobody can guess. The folders, whose
  // names every user of this host sees, have other names: a PMIx server believes a process that
  // knows the name of the world.
  const std::string& name() const noexcept { return name_; }
  const std::string& folder() const noexcept { return folder_; }

  // The folder for memory that ranks share. Empty: the system has no place for it.
  const std::string& memory_folder() const noexcept { return memory_folder_; }

 private:
  std::string name_;
  bool is_default_ = false;  // TMPDIR names no folder.
  std::string folder_;
  std::string memory_folder_;
};

}  // namespace rota::launcher
