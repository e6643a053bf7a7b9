// All rules over all workloads.
#include <set>

#include "launcher/manifest/rules.h"

namespace rota::manifest {

Findings check(const Manifest& manifest) {
  Findings all;
  std::set<Finding> told;  // Pods of one kind say the same of what they share.
  if (manifest.workloads.empty()) {
    all.push_back(
        error("nothing here starts rotarun: no Job, JobSet, TrainJob, StatefulSet or Pod "
              "has it as a container's command; give the whole manifest"));
  }
  for (const Workload& workload : manifest.workloads) {
    for (const auto& rules : {rules_of_names(), rules_of_world(), rules_of_service(),
                              rules_of_failure(), rules_of_key(), rules_of_pod()}) {
      for (const Rule& rule : rules) {
        for (Finding& finding : rule.check(manifest, workload)) {
          finding.text = on_one_line(std::move(finding.text));
          if (told.insert(finding).second) all.push_back(std::move(finding));
        }
      }
    }
  }
  return all;
}

}  // namespace rota::manifest
