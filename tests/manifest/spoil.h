// Has changes that tests make to a manifest. Most of these changes are mistakes.
#pragma once
#include "manifest/rendered.h"

namespace rota::manifest {

using Objects = std::vector<Tree>;
using Pointer = Tree::json_pointer;

inline const std::string kJobContainer = "/spec/template/spec/containers/0";

inline auto set(const std::string& kind, const std::string& pointer, const Tree& value) {
  return [=](Objects& objects) { of_kind(objects, kind)[Pointer(pointer)] = value; };
}

inline auto drop(const std::string& kind, const std::string& pointer) {
  return [=](Objects& objects) {
    const Pointer place(pointer);
    of_kind(objects, kind)[place.parent_pointer()].erase(place.back());
  };
}

inline auto drop_element(const std::string& kind, const std::string& pointer, std::size_t index) {
  return [=](Objects& objects) { of_kind(objects, kind)[Pointer(pointer)].erase(index); };
}

inline auto remove_object(const std::string& kind) {
  return [=](Objects& objects) {
    std::erase_if(objects, [&](const Tree& each) { return text_at(each, "kind") == kind; });
  };
}

inline void be_on_host_network(Objects& objects) {
  Tree& pod = of_kind(objects, "Job")["spec"]["template"]["spec"];
  pod["hostNetwork"] = true;
  pod["dnsPolicy"] = "ClusterFirstWithHostNet";
  Tree& variables = pod["containers"][0]["env"];
  const Tree own_name = {{"name", "ROTA_HOST"}, {"value", "mnist-$(POD_INDEX)"}};
  variables.insert(variables.begin(), own_name);
}

// Replaces the TrainJob and its runtime by a runtime for every namespace.
inline void be_of_the_cluster(Objects& objects) {
  remove_object("TrainJob")(objects);
  of_kind(objects, "TrainingRuntime")["kind"] = "ClusterTrainingRuntime";
}

// Replaces the Job by a pod as TFJob makes it, with the pod's Service.
inline void be_of_tfjob(Objects& objects) {
  Tree pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "mnist-worker-0"}}}};
  const Tree& job = of_kind(objects, "Job");
  pod["metadata"]["labels"] = map_at(job, "spec.template.metadata.labels");
  pod["spec"] = map_at(job, "spec.template.spec");
  pod["spec"].erase("subdomain");
  pod["spec"]["containers"][0].erase("readinessProbe");
  pod["spec"]["containers"][0]["env"] =
      Tree::array({{{"name", "TF_CONFIG"}, {"value", "{\"cluster\": {}}"}}});
  Tree service = of_kind(objects, "Service");
  service["spec"].erase("publishNotReadyAddresses");
  objects = {of_kind(objects, "Secret"), service, pod};
}

}  // namespace rota::manifest
