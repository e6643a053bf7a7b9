// The names of files and folders in a folder of checkpoints. All other code gets names from here.
// So no text from a disk or from another rank is used as a path without a check.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/run_id.h"

namespace rota::checkpoint {

inline constexpr const char* kOwnerName = "owner";
inline constexpr const char* kEndedName = "ended.json";
inline constexpr const char* kEvaluationsName = "evaluations.jsonl";
inline constexpr const char* kProbeName = "probe";  // In a hidden folder.

// Returns "000000012000": at least 12 digits, so that names sort as their steps.
std::string folder_name(std::uint64_t step);
std::optional<std::uint64_t> step_of_folder(std::string_view name);

// Names the save that made a checkpoint. Only copies of the same checkpoint share a name.
struct SaveName {
  std::uint64_t step = 0;
  RunId run;
  std::uint64_t start = 1;  // Which start of the run.
  friend bool operator==(const SaveName&, const SaveName&) = default;
};

// Returns the name of a checkpoint while its files are written: ".000000012000.RUN.START".
std::string hidden_name(const SaveName& save);

// Returns the save whose hidden_name() is exactly this name, or nothing.
std::optional<SaveName> save_of_hidden(std::string_view name);

// Returns the name of a checkpoint while its files are deleted: ".000000012000.removed".
std::string removed_name(std::uint64_t step);

// Returns whether hidden_name() or removed_name() gives this name for any step, run and start.
bool is_leftover(std::string_view name);

// Returns "000000012000.set-aside-1": the name of a checkpoint that made room for a new one of the
// same step.
std::string set_aside_name(std::uint64_t step, std::size_t number);

enum class FileKind : std::uint8_t {
  kParameters,  // Tensors of the model, which all ranks share.
  kOptimizer,   // All other tensors that all ranks share.
  kRank,        // The state that one rank alone has: its tensors, facts (texts) and counters.
};

// "parameters-00000-of-00004.safetensors": the file of writer 0 of 4. For kRank, `index` is the
// rank, and `count` is the world size.
struct FileName {
  FileKind kind = FileKind::kParameters;
  std::size_t index = 0;
  std::size_t count = 1;
  friend bool operator==(const FileName&, const FileName&) = default;
};
std::string to_text(const FileName& name);

// Returns nothing unless to_text() gives exactly this text.
std::optional<FileName> file_name_from(std::string_view text);

// kParameters for names in "model/", otherwise kOptimizer.
FileKind kind_of_shared(std::string_view tensor_name);

}  // namespace rota::checkpoint
