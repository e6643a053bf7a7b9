// The manifest of a checkpoint: which files belong to it, their sums, and the state that is not in
// tensors. A folder without a whole manifest is not a checkpoint.
//
// The text is JSON. Its last member is a CRC32C of all text before that member, so a flipped bit or
// a missing end is always found. docs/checkpoints.md describes the members.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <rota/error.h>

#include "checkpoint/file_names.h"
#include "checkpoint/run_id.h"
#include "checkpoint/tensor.h"

namespace rota::checkpoint {

inline constexpr const char* kManifestName = "manifest.json";

// The number of the format. A format that this version of rota cannot read has a higher number.
inline constexpr std::uint64_t kManifestFormat = 1;

// Every file of a checkpoint has a CRC32C for each piece of so many bytes; its last piece may be
// shorter.
inline constexpr std::size_t kSumBytes = std::size_t{1} << 20;

// The largest manifest. Its sums cover a checkpoint of about a terabyte.
inline constexpr std::size_t kMaxManifestBytes = std::size_t{16} << 20;

struct Fact {
  std::string name;
  std::string text;
  friend bool operator==(const Fact&, const Fact&) = default;
};

struct Counter {
  std::string name;
  std::uint64_t value = 0;
  friend bool operator==(const Counter&, const Counter&) = default;
};

struct ManifestFile {
  std::string name;  // Without a folder.
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> sums;  // One for each started kSumBytes.
  friend bool operator==(const ManifestFile&, const ManifestFile&) = default;
};

struct Manifest {
  RunId run;
  std::uint64_t start = 1;         // The number of the start of the run that saved this, from 1 on.
  std::uint64_t view = 1;          // The number of the world within the start, from 1 on.
  std::uint64_t world_size = 1;    // The ranks that trained.
  std::uint64_t step = 0;          // Completed steps, counted from the first start of the run.
  std::vector<std::size_t> ranks;  // Ascending. The ranks whose own state is in the folder.
  // Ascending. The ranks that had a state of their own, in this folder or in that of another host.
  std::vector<std::size_t> stateful_ranks;
  std::vector<Fact> facts;          // What all ranks share, in the order of the state.
  std::vector<Counter> counters;    // The same.
  std::vector<TensorInfo> tensors;  // The same; the files have the elements.
  std::vector<ManifestFile> files;
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// Which save made the checkpoint.
inline SaveName save_of(const Manifest& manifest) {
  return {.step = manifest.step, .run = manifest.run, .start = manifest.start};
}

// Requires a manifest that parse_manifest() accepts. Throws Error kInvalidArgument if the text
// would be larger than kMaxManifestBytes, or if a name is not UTF-8.
std::string encode(const Manifest& manifest);

// What parse_manifest() throws for a manifest of a later format than this rota knows: the
// checkpoint is not damaged. The code is kBadData.
struct LaterFormat : Error {
  using Error::Error;
};

// Parses the text of a manifest. `path` names it in errors. Throws Error kBadData that says what is
// wrong, and where, or LaterFormat.
Manifest parse_manifest(const std::string& path, std::string_view text);

// Returns the whole text of a manifest: `body` and the sum of `body`.
std::string seal(std::string body);

// Returns a CRC32C as 8 hexadecimal digits.
std::string sum_text(std::uint32_t sum);

}  // namespace rota::checkpoint
