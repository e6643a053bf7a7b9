// Changes to a manifest, most of which spoil it.
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

// A runtime by itself, which every namespace may use.
inline void be_of_the_cluster(Objects& objects) {
  remove_object("TrainJob")(objects);
  of_kind(objects, "TrainingRuntime")["kind"] = "ClusterTrainingRuntime";
}

}  // namespace rota::manifest
