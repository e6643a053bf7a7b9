// The commands of rota-checkpoint. Each returns what it prints and its exit code, and throws Error
// for what it cannot read or write.
#pragma once
#include <string>

namespace rota::launcher {

// The exit codes from 65 on are those of sysexits.h.
inline constexpr int kExitFine = 0;
inline constexpr int kExitDiffers = 1;
inline constexpr int kExitWrongLine = 2;
inline constexpr int kExitDamaged = 65;
inline constexpr int kExitUnreadable = 66;
inline constexpr int kExitCannotWrite = 73;

struct Answer {
  std::string text;
  int code = kExitFine;
};

// Prints a line for each checkpoint in `folder`, newest first. Reads the manifests only.
Answer list_checkpoints(const std::string& folder);

// Prints what the manifest of a checkpoint says.
Answer show_checkpoint(const std::string& path);

// Reads and checks all bytes of a checkpoint, or of all checkpoints in a folder.
Answer verify_checkpoints(const std::string& path);

// Prints what differs between two checkpoints: the step, facts (named texts, such as the
// optimizer), counters and tensors. The exit code is kExitDiffers if anything differs.
Answer compare_checkpoints(const std::string& one, const std::string& other);

// Writes the parameters of the model to a new safetensors file, without "model/" in their names.
Answer export_parameters(const std::string& path, const std::string& file);

}  // namespace rota::launcher
