// Control messages travel between the leader and the launchers of the other hosts. In a host tree,
// the hosts between the leader and a launcher pass messages on. Each of them puts its own data and
// the data of all hosts below it into one message.
//
//   to the leader                            from the leader
//   kHello     text: a Hello by host         kRefused     value: exit code, text: why; rotarun ends
//                                                         with it, unless value is kCallAgain
//                                            kAssignment  text: a HostAssignment by host; sent
//                                                         once all hosts are here
//   kReady     text: HostEndpoints by host   kStart       text: a StartInfo
//   kSaid      rank, value: its world,       kToRank      rank, text: the message
//              text: its message
//   kEvent     text: a JobEvent              kAskToEnd    value: signal, text: to be printed
//   kOutput    rank, value: Stream; or an    kFlow        value: Flow, as a number
//              evaluator, value: Stream + 2;
//              text: what it wrote
//                                            kKill
//                                            kFinish      value: exit code, rank: the host that
//                                                         exits after the others, or kNoHost
//                                          kFence       text: a FenceResult
//                                          kLetter      rank, text: an MpiLetter to its host
//                                          kSignal      value: a signal for the first process of
//                                                       each rank
//   kBeat      a heartbeat, in both directions
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/mpi/mpi_plan.h"
#include "launcher/plan/host_assignment.h"
#include "launcher/plan/peers.h"

namespace rota::launcher {

enum class ControlMessageType : std::uint8_t {
  kHello = 1,
  kReady,
  kSaid,
  kEvent,
  kOutput,
  kRefused,
  kAssignment,
  kStart,
  kToRank,
  kAskToEnd,
  kKill,
  kFlow,
  kFinish,
  kFence,
  kLetter,
  kSignal,
  kBeat,
};

inline constexpr std::uint32_t kNoHost = UINT32_MAX;
inline constexpr int kOfEvaluator = 2;  // In kOutput: added to the Stream.
inline constexpr int kCallAgain = 0;    // In kRefused: there may be another world soon.

struct ControlMessage {
  ControlMessageType type = ControlMessageType::kBeat;
  std::uint32_t rank = 0;
  int value = 0;
  std::string text{};

  friend bool operator==(const ControlMessage&, const ControlMessage&) = default;
};

std::vector<std::byte> encode(const ControlMessage& message);

// Every decode function returns nothing unless the bytes are whole and well-formed.
std::optional<ControlMessage> decode_control_message(std::span<const std::byte> bytes);

// One host and its text, in a message with a text for each of several hosts.
struct HostText {
  std::size_t host = 0;
  std::string text{};

  friend bool operator==(const HostText&, const HostText&) = default;
};
std::string encode(const std::vector<HostText>& by_host);
std::optional<std::vector<HostText>> decode_host_texts(std::string_view text);

// The Hello: how a host introduces itself.
struct Hello {
  std::string version;         // The version of rota.
  std::string host;            // The name that the host gives itself.
  std::string cluster;         // The cluster as the host sees it; empty in a relayed Hello.
  std::size_t slot_count = 1;  // As declared; without a declaration, as found.

  // The local rank and the number of local ranks that another launcher (mpirun, torchrun) gave to
  // this rotarun. Empty if no other launcher started this rotarun, or if the other launcher did not
  // give the number.
  std::optional<std::size_t> local_rank{};
  std::optional<std::size_t> local_count{};

  // The identity of the host's programs, in a few words: the same words for the same programs.
  // Empty: unknown.
  std::string program{};

  // If the host cannot run the program: the exit code that follows, and why.
  int obstacle_code = 0;
  std::string obstacle{};

  friend bool operator==(const Hello&, const Hello&) = default;
};
std::string encode(const Hello& hello);
std::optional<Hello> decode_hello(std::string_view text);

// Encodes the ranks of a host. `places` is not sent: each host chooses the cores of its ranks
// itself.
std::string encode(const HostAssignment& assignment);
std::optional<HostAssignment> decode_assignment(std::string_view text);

// By local rank: where the rank listens, the cores that it is bound to, and the CUDA devices that
// it sees. `free`: ports at which programs may listen.
struct HostEndpoints {
  std::vector<std::string> addresses{};
  std::vector<std::string> cores{};
  std::vector<std::string> devices{};
  bool may_spin = false;
  HostPorts free{};
};
std::string encode(const HostEndpoints& endpoints);
std::optional<HostEndpoints> decode_endpoints(std::string_view text);

// The data that all hosts receive when the job begins.
struct StartInfo {
  std::string salt{};   // For the data key, which is never sent.
  std::string table{};  // The rank table as text; a rank's welcome has a hash of it.
  Peers peers{};
  MpiPlan mpi{};
};
std::string encode(const StartInfo& start_info);
std::optional<StartInfo> decode_start_info(std::string_view text);

}  // namespace rota::launcher
