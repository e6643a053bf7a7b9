// The file `ended.json`: a training run has nothing left to do. Without this file, an evaluator in
// another process would wait for the next checkpoint for ever.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/run_id.h"

namespace rota::checkpoint {

struct Ended {
  RunId run;
  std::uint64_t start = 1;  // Which start of the run has ended.
  std::uint64_t step = 0;   // Of the last checkpoint.
  friend bool operator==(const Ended&, const Ended&) = default;
};

std::string encode(const Ended& ended);

// Returns nothing if the text is not from encode().
std::optional<Ended> ended_from(std::string_view text);

// Writes the file to the folder of checkpoints. It appears whole, by a rename. Throws Error
// kCannotWrite.
void write_ended(const std::string& folder, const Ended& ended);

// Accepts that the file is not there. Throws Error kCannotWrite.
void remove_ended(const std::string& folder);

// Returns nothing if there is no such file, or no such folder. Throws Error kBadData,
// UnreadableFile.
std::optional<Ended> read_ended(const std::string& folder);

// Returns when the file was written, or nothing if there is none. Each write makes a new file.
// Throws UnreadableFile.
std::optional<std::filesystem::file_time_type> time_of_ended(const std::string& folder);

}  // namespace rota::checkpoint
