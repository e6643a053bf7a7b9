// Has the rules of Kubernetes for the names of objects, and of the pods that an object makes.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace rota::manifest {

// Longest host name, and longest value of a label that selects pods.
inline constexpr std::size_t kMostNameLetters = 63;

// Returns whether the name is a DNS-1123 label: lower-case letters, digits and hyphens, with a
// letter or digit at either end.
bool is_label(std::string_view name);

// Returns whether a Service may have the name: it must be a DNS-1035 label, which begins with a
// letter. Pods are found by this name.
bool is_service_name(std::string_view name);

// Returns whether an object that is not a host may have the name: labels joined by dots.
bool is_object_name(std::string_view name);

// Returns the longest name among the pods: "mnist-3" for the Job mnist with 4 hosts. `kind` is Job,
// JobSet, TrainJob or StatefulSet. `set` is the name of the replicated job, if the kind has one.
std::string longest_pod_name(std::string_view kind, const std::string& name, const std::string& set,
                             std::size_t host_count);

// Returns the length limit of the object's own name. A StatefulSet's name becomes a label with a
// revision suffix, so its limit is lower.
std::size_t most_letters(std::string_view kind);

}  // namespace rota::manifest
