// What Kubernetes is to make of rotarun's exit codes.
#include "launcher/manifest/failure_policy.h"

#include <csignal>

#include "launcher/command/exit_codes.h"

namespace rota::manifest {
namespace {

constexpr int kAgreedStop = launcher::kExitSignalBase + SIGTERM;

Tree on_disruption(const std::string& action) {
  return {{"action", action},
          {"onPodConditions", Tree::array({{{"type", "DisruptionTarget"}, {"status", "True"}}})}};
}

Tree on_codes(const std::string& action, const std::string& container, const std::string& operation,
              const Tree& codes) {
  return {
      {"action", action},
      {"onExitCodes", {{"containerName", container}, {"operator", operation}, {"values", codes}}}};
}

// Of these trying again may give another result.
Tree worth_a_try() {
  constexpr int kLastCode = 255;
  Tree codes = Tree::array();
  for (int code = launcher::kExitSignalBase; code <= kLastCode; ++code) codes.push_back(code);
  return codes;
}

Tree policy(const std::string& on_stop, const std::string& container) {
  const Tree stop = Tree::array({kAgreedStop});
  return {{"rules", Tree::array({on_disruption(on_stop), on_codes(on_stop, container, "In", stop),
                                 on_codes("FailJob", container, "NotIn", worth_a_try())})}};
}

}  // namespace

Tree job_failure_policy(const std::string& container) { return policy("Ignore", container); }

// The Job has no retries of its own, so that every failure fails it at once, and by its first two
// rules those that are not to count: the JobSet knows them by the number of the rule.
Tree set_job_failure_policy(const std::string& container) { return policy("FailJob", container); }

Tree jobset_failure_policy(std::size_t restart_count) {
  const Tree by_rule = Tree::array({"PodFailurePolicy"});
  return {
      {"maxRestarts", restart_count},
      {"rules",
       Tree::array(
           {{{"name", "stopped"},
             {"action", "RestartJobSetAndIgnoreMaxRestarts"},
             {"onJobFailureReasons", by_rule},
             {"onJobFailureMessagePatterns",
              Tree::array({"matching FailJob rule at index [01]$"})}},
            {{"name", "permanent"}, {"action", "FailJobSet"}, {"onJobFailureReasons", by_rule}}})}};
}

}  // namespace rota::manifest
