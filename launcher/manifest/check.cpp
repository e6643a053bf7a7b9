// Applies all rules to all workloads.
#include <set>

#include "launcher/manifest/rules.h"

namespace rota::manifest {
namespace {

constexpr std::size_t kMostFindings = 1000;  // More than a person fixes at a time.

Findings check(const Manifest& manifest, const Workload& workload) {
  Findings all;
  for (const auto& rules : {rules_of_names(), rules_of_world(), rules_of_service(),
                            rules_of_failure(), rules_of_key(), rules_of_pod()}) {
    for (const Rule& rule : rules) {
      for (Finding& finding : rule.check(manifest, workload)) all.push_back(std::move(finding));
    }
  }
  return all;
}

}  // namespace

Findings check(const Manifest& manifest) {
  if (manifest.workloads.empty()) {
    return {
        error("nothing here starts rotarun: no Job, JobSet, TrainJob, StatefulSet or Pod has a "
              "container with this command; give the whole manifest")};
  }
  Findings all;
  std::set<Finding> told;  // Workloads that share an object repeat its findings.
  for (const Workload& workload : manifest.workloads) {
    for (Finding& finding : check(manifest, workload)) {
      finding.text = on_one_line(std::move(finding.text));
      if (!told.insert(finding).second) continue;
      if (all.size() == kMostFindings) {
        all.push_back(error("there are more errors: correct these " +
                            std::to_string(kMostFindings) + " first, and check again"));
        return all;
      }
      all.push_back(std::move(finding));
    }
  }
  return all;
}

}  // namespace rota::manifest
