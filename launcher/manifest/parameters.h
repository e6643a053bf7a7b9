// The command line of rotarun render: what a job is to be.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rota::manifest {

enum class Kind { kJob, kJobSet, kTrainJob, kStatefulSet };

// What a job is to be, from which all its objects follow.
struct Parameters {
  std::string name;
  std::string name_space{};  // Empty: whichever they are applied to.
  std::string image;
  Kind kind = Kind::kJob;
  std::size_t worker_count = 1;
  std::size_t slot_count = 1;  // Ranks of each worker.
  std::size_t gpu_count = 0;   // Of each worker.
  std::size_t restart_count = 0;
  std::string data_claim{};  // Mounted at /data; empty: none.
  std::string data_size{};   // Of the claim that is printed as well; empty: it exists.
  std::string key_secret{};  // One that exists; empty: a fresh one is printed.
  std::string cpu{};         // Limits and requests, as Kubernetes writes them.
  std::string cpu_request{};
  std::string memory{};
  std::uint64_t parameter_count = 0;        // Of the model; 0: not told.
  std::vector<std::string> command_line{};  // Of rotarun, in the pods: options, program, arguments.
  std::uint64_t grace_seconds = 0;          // Of that command line, as the next two.
  std::uint16_t first_port = 0;
  bool encrypts = false;
};

struct CommandLine {
  bool help = false;
  bool is_check = false;
  std::vector<std::string> files{};  // To check; "-" is standard input.
  Parameters parameters{};
};

// Without "rotarun render". Throws launcher::UsageError, with a message for whoever typed it.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

// As in --kind: "job".
std::string to_text(Kind kind);

std::string help_text();

}  // namespace rota::manifest
