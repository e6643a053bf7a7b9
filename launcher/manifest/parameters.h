// Parses the command line of rotarun render into the parameters of a job.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rota::manifest {

enum class Kind { kJob, kJobSet, kTrainJob, kStatefulSet };

// Parameters of a job. All its objects are derived from them.
struct Parameters {
  std::string name;
  std::string name_space{};  // Empty: the namespace that kubectl applies to.
  std::string image;
  Kind kind = Kind::kJob;
  std::size_t worker_count = 1;
  std::size_t slot_count = 1;  // Ranks of each worker.
  std::size_t gpu_count = 0;   // GPUs of each worker.
  std::size_t restart_count = 0;
  std::string data_claim{};  // Claim to mount at /data; empty: none.
  std::string data_size{};   // Size of the claim to print; empty: the claim exists.
  std::string key_secret{};  // An existing Secret; empty: a new one is printed.
  std::string cpu{};         // This and the next two: amounts as Kubernetes writes them.
  std::string cpu_request{};
  std::string memory{};
  std::uint64_t parameter_count = 0;        // Parameters of the model; 0: unknown.
  std::vector<std::string> command_line{};  // Of rotarun in the pods: options, program, arguments.
  std::uint64_t grace_seconds = 0;          // This and the next two come from command_line.
  std::uint16_t first_port = 0;
  bool encrypts = false;
};

struct CommandLine {
  bool help = false;
  bool is_check = false;
  std::vector<std::string> files{};  // Files to check; "-" is standard input.
  Parameters parameters{};
};

// Parses what follows "rotarun render". Throws launcher::UsageError with a message for the user.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

// Returns the name of the kind as in --kind: "job".
std::string to_text(Kind kind);

std::string help_text();

}  // namespace rota::manifest
