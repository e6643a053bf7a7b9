// PMIx messages travel between rotarun and rotarun-pmix, the PMIx server of this host. The server
// knows only the ranks of the MPI world, by their numbers in that world.
//
//   to rotarun                                   to rotarun-pmix
//                                                kJob           text: a PmixJob; comes once, first
//   kEnvironment   rank, text: its variables
//   kConnected     rank; it called MPI_Init
//   kFinalized     rank; it called MPI_Finalize
//   kAborted       rank, value: the code of
//                  MPI_Abort, text: why
//   kFence         text: a PmixFence, with the   kFenced        text: the PmixFence, with the data
//                  data of this host's ranks                    of all its ranks
//   kWanted        rank of another host,         kWanted        rank of this host,
//                  value: number of the request                 value: number of the request
//   kFound         value: the number, text: the rank's data; an answer, in both directions
//   kMissing       value: the number; the rank has no data; an answer, in both directions
//   kFailed        text: why there is no server
//   kLost          rank; it has closed its
//                  connection without
//                  MPI_Finalize
//
// A message may be larger than one message of the socket: PmixLink cuts it. The server ends when
// the connection does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rota::launcher {

enum class PmixMessageType : std::uint8_t {
  kJob = 1,
  kEnvironment,
  kConnected,
  kFinalized,
  kAborted,
  kFence,
  kFenced,
  kWanted,
  kFound,
  kMissing,
  kFailed,
  kLost,
};

struct PmixMessage {
  PmixMessageType type = PmixMessageType::kFailed;
  std::uint32_t rank = 0;
  int value = 0;
  std::string text{};

  friend bool operator==(const PmixMessage&, const PmixMessage&) = default;
};

std::vector<std::byte> encode(const PmixMessage& message);

// Every decode function returns nothing unless the bytes are whole and well-formed.
std::optional<PmixMessage> decode_pmix_message(std::span<const std::byte> bytes);

// A host of the job that has ranks of the MPI world.
struct PmixNode {
  std::string name;                  // Of letters, digits, dots and hyphens; unlike all others.
  std::vector<std::uint32_t> ranks;  // Index: local rank. Not empty.

  friend bool operator==(const PmixNode&, const PmixNode&) = default;
};

// The longest name of a job: the longest that PMIx allows, less what the server adds for itself.
inline constexpr std::size_t kMaxPmixNameLength = 240;

struct PmixJob {
  std::string name;             // Different from the names of all other jobs; not empty.
  std::vector<PmixNode> nodes;  // They have each rank of the world once.
  std::uint32_t own_node = 0;   // The index of this host.
  // Which program of the command line each rank of this host runs. Index: local rank.
  std::vector<std::uint32_t> programs;
  std::string folder;         // For files of the server and of the ranks. Exists.
  std::string memory_folder;  // For memory that ranks share. Exists; empty: there is none.
  std::uint32_t user = 0;     // The ranks run as this user and group.
  std::uint32_t group = 0;

  friend bool operator==(const PmixJob&, const PmixJob&) = default;
};
std::string encode(const PmixJob& job);
std::optional<PmixJob> decode_pmix_job(std::string_view text);

// A fence that ranks have entered. All ranks of `ranks` must enter it.
struct PmixFence {
  std::vector<std::uint32_t> ranks;  // Ascending; empty: all ranks of the world.
  std::uint32_t number = 0;          // The number of earlier fences of the same ranks.
  std::string data;

  friend bool operator==(const PmixFence&, const PmixFence&) = default;
};
std::string encode(const PmixFence& fence);
std::optional<PmixFence> decode_pmix_fence(std::string_view text);

// The variables of a rank, each as "NAME=VALUE".
std::string encode_variables(const std::vector<std::string>& variables);
std::optional<std::vector<std::string>> decode_variables(std::string_view text);

}  // namespace rota::launcher
