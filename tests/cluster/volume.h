// A folder of this machine as a volume of the cluster. The nodes see the folder only if they run on
// this machine.
#pragma once
#include <filesystem>
#include <string>

#include "cluster/kubectl.h"

namespace rota::testing {

// Makes a new folder the volume of one claim, which several pods may use. The destructor removes
// the folder and the volume.
class SharedVolume {
 public:
  SharedVolume(const Namespace& place, const std::string& claim);
  SharedVolume(SharedVolume&&) = delete;
  ~SharedVolume();

  const std::filesystem::path& folder() const noexcept { return folder_; }

 private:
  std::string name_;
  std::filesystem::path folder_;
};

}  // namespace rota::testing
