// What may be the name of an object, and of the pods that are made of it.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace rota::manifest {

// Of a host's name, and of what is selected by a label.
inline constexpr std::size_t kMostNameLetters = 63;

// Lower-case letters, digits and hyphens, with a letter or a digit at either end: DNS-1123.
bool is_label(std::string_view name);

// A Service's name, and so one that pods are found by: the first is a letter: DNS-1035.
bool is_service_name(std::string_view name);

// Of an object that is no host: labels and dots.
bool is_object_name(std::string_view name);

// The longest name among the pods: "mnist-3" for the Job mnist of 4. `kind` is Job, JobSet,
// TrainJob or StatefulSet; `set` the name of the replicated job, where the kind has one.
std::string longest_pod_name(std::string_view kind, const std::string& name, const std::string& set,
                             std::size_t host_count);

// How long a name of that kind may be beside that of its pods: a StatefulSet's is a label with a
// revision behind it.
std::size_t most_letters(std::string_view kind);

}  // namespace rota::manifest
