// The name of a training run: 128 random bits, drawn when the run starts for the first time. All
// checkpoints of the run have this name, even if a later start of the run saved them.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace rota::checkpoint {

struct RunId {
  std::array<std::byte, 16> bits{};
  friend bool operator==(const RunId&, const RunId&) = default;
};

// Throws Error kSystem.
RunId random_run_id();

// Returns 32 hexadecimal digits, in lower case.
std::string to_text(const RunId& run);

// Returns nothing if `text` does not have the form that to_text() gives.
std::optional<RunId> run_id_from(std::string_view text);

}  // namespace rota::checkpoint
