// Makes volumes of the kind hostPath. A restricted namespace allows such a volume behind a claim.
#include "cluster/volume.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <exception>

namespace rota::testing {

SharedVolume::SharedVolume(const Namespace& place, const std::string& claim) : name_(place.name()) {
  std::string pattern = std::filesystem::temp_directory_path() / "rota-test-volume-XXXXXX";
  folder_ = ::mkdtemp(pattern.data());
  ::chmod(folder_.c_str(), 0777);  // The pods run as another user.
  const nlohmann::json volume = {{"apiVersion", "v1"},
                                 {"kind", "PersistentVolume"},
                                 {"metadata", {{"name", name_}}},
                                 {"spec",
                                  {{"capacity", {{"storage", "10Gi"}}},
                                   {"accessModes", {"ReadWriteMany"}},
                                   {"persistentVolumeReclaimPolicy", "Retain"},
                                   {"claimRef", {{"namespace", place.name()}, {"name", claim}}},
                                   {"hostPath", {{"path", folder_.string()}}}}}};
  kubectl({"apply", "-f", "-"}, volume.dump());
}

SharedVolume::~SharedVolume() {
  try {
    kubectl({"delete", "persistentvolume", name_, "--wait=false"});
    std::filesystem::remove_all(folder_);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

}  // namespace rota::testing
