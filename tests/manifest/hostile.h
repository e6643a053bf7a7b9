// Has manifests that try to cost their reader memory or time. Each has the greatest length that
// `--check` reads.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "os/fd.h"

namespace rota::manifest {

inline constexpr std::size_t kLongest = (std::size_t{4} << 20) - 128;

inline std::string repeated(const std::string& part, std::size_t count) {
  std::string text;
  text.reserve(part.size() * count);
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

inline std::string filled(const std::string& part) {
  return repeated(part, kLongest / part.size());
}

// Returns `count` documents of one line each. `line` gets the number of the document.
template <class Line>
std::string documents(int count, const Line& line) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "--- " + line(std::to_string(i)) + "\n";
  return text;
}

inline std::string job(const std::string& name, const std::string& labels,
                       const std::string& command) {
  return "{kind: Job, metadata: {name: " + name + "}, spec: {template: {metadata: {labels: {" +
         labels + "}}, spec: {containers: [{command: [rotarun" + command + "]}]}}}}";
}

inline std::string train_job(const std::string& name) {
  return "{kind: TrainJob, metadata: {name: " + name +
         "}, spec: {runtimeRef: {kind: TrainingRuntime, name: shared}}}";
}

inline std::string runtime(const std::string& variables) {
  return "--- {kind: TrainingRuntime, metadata: {name: shared}, spec: {template: {spec: "
         "{replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: "
         "[{name: node, command: [rotarun], env: [" +
         variables + "]}]}}}}}]}}}}\n";
}

struct Hostile {
  const char* name;
  std::string (*text)();
};

// Some manifests make the parser slow: it keeps tokens of possible keys, anchors, and long strings.
// Other manifests make the rules slow: the rules look at everything for each job or for each pair.
inline constexpr Hostile kHostile[] = {
    {"AListThatMayBeAKey", [] { return "[" + filled(","); }},
    {"ListsThatMayBeKeys", [] { return "a: " + filled("["); }},
    {"PairsInAListThatMayBeAKey", [] { return "[" + filled("a: b,"); }},
    {"Anchors", [] { return "a: [" + repeated("&a x,", kLongest / 5) + "]\n"; }},
    {"AliasesOfALongText",
     [] { return "a: &a " + repeated("x", 1 << 20) + "\nb: [" + repeated("*a,", 90'000) + "]\n"; }},
    {"Documents", [] { return filled("---\n"); }},
    {"ATextOfLineBreaks", [] { return "a: |\n" + filled("\n"); }},
    {"LinesWithoutAnything", [] { return "a: 1\n" + filled("\r\n"); }},
    {"AKeyWithoutAnEnd", [] { return filled("x"); }},
    {"AQuoteWithoutAnEnd", [] { return "a: \"" + filled("x\n"); }},
    {"JobsAndServices",
     [] {
       return documents(600, [](auto n) { return job("j" + n, "a: j" + n, ""); }) +
              documents(3000, [](auto n) {
                return "{kind: Service, metadata: {name: s" + n + "}, spec: {selector: {a: s" + n +
                       "}}}";
              });
     }},
    {"JobsThatAllServicesSelect",
     [] {
       return documents(3000, [](auto n) { return job("j" + n, "a: b", ""); }) +
              repeated("--- {kind: Service, spec: {selector: {a: b}}}\n", 9000);
     }},
    {"TrainJobsOfOneLargeRuntime",
     [] { return runtime(repeated("{name: e},", 20'000)) + documents(6000, train_job); }},
    {"ProgramsWithoutEnd",
     [] {
       return documents(25, [](auto n) { return job("j" + n, "", repeated(", a, \":\"", 2000)); });
     }},
    {"PortsOfALongName",
     [] {
       return "--- " + job("j", "a: b", "") +
              "\n--- {kind: Service, metadata: {name: " + repeated("n", 2 << 20) +
              "}, spec: {selector: {a: b}, ports: [" + repeated("{},", 100'000) + "]}}\n";
     }},
};

// Returns a file with `text`, at the beginning of the file.
inline os::Fd file_with(const std::string& text) {
  os::Fd file(::memfd_create("manifest", MFD_CLOEXEC));
  const auto size = static_cast<ssize_t>(text.size());
  if (!file || ::pwrite(file.get(), text.data(), text.size(), 0) != size) {
    throw std::runtime_error("no file in memory");
  }
  return file;
}

}  // namespace rota::manifest
