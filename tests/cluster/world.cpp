// Reads all facts about a world from the output of its pods.
#include "cluster/world.h"

#include <algorithm>
#include <ctime>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace rota::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr const char* kTwoNodes =
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, "
    "whenUnsatisfiable: DoNotSchedule, "
    "labelSelector: {matchLabels: {app.kubernetes.io/name: mnist}}}]";

Arguments with_workers(const Arguments& options) {
  Arguments all = {"--workers", "3"};
  all.insert(all.end(), options.begin(), options.end());
  return all;
}

bool is_set(const Arguments& options) {
  return std::ranges::find(options, "jobset") != options.end();
}

// Parses a time such as 2026-01-31T12:00:00.123456789Z.
std::chrono::system_clock::time_point moment_of(const std::string& text) {
  std::tm calendar = {};
  const char* const fraction = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &calendar);
  if (fraction == nullptr) throw std::runtime_error("no moment: " + text);
  const std::chrono::duration<double> part(*fraction == '.' ? std::stod(fraction) : 0);
  return std::chrono::system_clock::from_time_t(::timegm(&calendar)) +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(part);
}

double seconds_until(const std::string& log, const std::string& text,
                     std::chrono::system_clock::time_point moment) {
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(text) == std::string::npos) continue;
    const std::chrono::duration<double> passed = moment_of(line.substr(0, line.find(' '))) - moment;
    if (passed.count() >= 0) return passed.count();
  }
  return std::numeric_limits<double>::infinity();
}

// Returns whether a container of the pod has ended with an error. The pod's phase shows this only
// later, when the node has removed what belonged to the pod.
bool has_failed(const json& pod) {
  for (const json& container : pod["status"].value("containerStatuses", json::array())) {
    const json end = container["state"].value("terminated", json::object());
    if (end.value("exitCode", 0) != 0) return true;
  }
  return false;
}

}  // namespace

World::World(const Arguments& options, Length length, const Arguments& components)
    : object_(is_set(options) ? "jobset/mnist" : "job/mnist") {
  // The training has few steps with much work in each: ranks rarely wait for each other, so the
  // training takes hardly longer if many processes share a core. Even a fast machine trains for
  // seconds after the first epoch, and a test does its harm in that time.
  std::string manifests =
      render(with_workers(options), {"mnist", "--model", "seed", "--batch-size", "1000", "--epochs",
                                     length == Length::kShort ? "30" : "100000"});
  manifests = with_pod_field(manifests, kTwoNodes);
  for (const std::string& component : components) {
    manifests = with_component(manifests, component);
    // The evaluator needs the model of the job.
    if (component == "evaluator") manifests = replaced(manifests, "- mlp\n", "- seed\n");
  }
  place_.apply(manifests);
}

std::vector<json> World::training_pods() const {
  std::vector<json> pods;
  const bool trains = becomes_true(
      [&] {
        pods = place_.pods();
        if (pods.empty()) return false;
        try {
          return place_.log(pods[0]["metadata"]["name"]).find("loss ") != std::string::npos;
        } catch (const std::runtime_error&) {
          return false;  // The container does not exist yet.
        }
      },
      90s);
  if (!trains) throw std::runtime_error(place_.name() + " does not train");
  return pods;
}

std::vector<double> World::seconds_until_said(const std::string& text,
                                              std::chrono::system_clock::time_point moment,
                                              const std::string& but) const {
  std::vector<double> seconds;
  for (const json& pod : place_.pods()) {
    if (!has_failed(pod)) continue;
    const std::string name = pod["metadata"]["name"];
    if (name != but) seconds.push_back(seconds_until(place_.log_with_moments(name), text, moment));
  }
  return seconds;
}

std::string World::end() const {
  constexpr std::string_view kMark = "weights ";
  std::string end = place_.end_of(object_, 200s);
  for (const json& pod : place_.pods()) {
    if (pod["status"]["phase"] != "Succeeded") continue;
    const std::string log = place_.log(pod["metadata"]["name"]);
    const std::size_t mark = log.find(kMark);
    if (mark != std::string::npos) {
      end += " " + log.substr(mark + kMark.size(), log.find('\n', mark) - mark - kMark.size());
    }
  }
  return end;
}

}  // namespace rota::testing
