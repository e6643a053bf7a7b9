// Has the common code of the sources for Kubernetes: indices, process counts and names of pods.
#include "cluster/pods.h"

namespace rota::cluster {

void require_among(const std::string& index_name, std::size_t index, const std::string& count_name,
                   std::size_t count) {
  if (index < count) return;
  refuse(index_name + " is " + std::to_string(index) + ", and " + count_name + " is " +
         std::to_string(count) + ": the indices go from 0 to " + std::to_string(count - 1) +
         (count_name == "ROTA_HOSTS" ? "; set ROTA_HOSTS to the number of pods, spec.completions"
                                     : ""));
}

ProcessCount read_process_count(const Given& given) {
  constexpr const char* kName = "PET_NPROC_PER_NODE";
  const std::string text = given.environment.text(kName);
  if (text == "cpu") return {};
  if (text != "gpu" && text != "auto") {
    return {.of_each = given.environment.number(kName, {.least = 1, .most = kMaxRanks})};
  }
  if (given.device_count == std::size_t{0} && text == "gpu") {
    refuse("PET_NPROC_PER_NODE is gpu, but this host, " + shown(given.host_name) +
           ", has no usable CUDA device: request some in the pod's resources, check "
           "CUDA_VISIBLE_DEVICES, or give a number of processes");
  }
  return {.of_own = given.device_count.value_or(0) > 0 ? given.device_count : std::nullopt};
}

void add_process_count(const ProcessCount& count, Specification& specification) {
  for (Host& host : specification.hosts) host.slots = count.of_each;
  if (!count.of_own) return;
  specification.hosts[*specification.own_host].slots = count.of_own;
  specification.are_own_slots_private = true;
  specification.usual_slots = count.of_own;
}

void name_first(std::optional<RendezvousEndpoint> rendezvous, Specification& specification) {
  if (!rendezvous) return;
  Host& first = specification.hosts[0];
  first.port = rendezvous->port;
  if (means_itself(rendezvous->name) && specification.hosts.size() > 1) {
    if (specification.own_host == std::size_t{0}) return;  // Pod 0 itself may get such a name.
    refuse(specification.source + " gives host 0 as " + shown(rendezvous->name) +
           "; every host means itself by that name: give the name by which other hosts reach it");
  }
  first.name = rendezvous->name;
  specification.rendezvous = std::move(rendezvous);
}

PodName pod_of(const std::string& host_name, const std::string& end,
               const std::string& index_name) {
  const std::size_t dot = std::min(host_name.find('.'), host_name.size());
  const std::string label = host_name.substr(0, dot);
  if (!label.ends_with(end)) {
    refuse(
        index_name + " makes this the pod …" + end + ", but the host is called " +
        shown(host_name) +
        ": if pods have the name of their node, as with hostNetwork, set ROTA_HOST to this pod's "
        "name, as in NAME" +
        end);
  }
  const std::size_t last = label.rfind('-');
  return {.prefix = label.substr(0, last + 1), .ordinal = 0, .suffix = host_name.substr(dot)};
}

}  // namespace rota::cluster
