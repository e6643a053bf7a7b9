// What the launchers of one job say to each other: those of other hosts to the leader, which is
// host 0's, and the leader to them. Where hosts are a tree, those on the way pass it on, and say in
// one piece what concerns them and all that are below them.
//
//   to the leader                              from the leader
//   kHello     text = a Hello by host          kRefused   value = exit code, text = why; the end,
//                                                         unless it is kCallAgain
//                                              kShare     text = a Share by host, once all are here
//   kReady     text = Seats by host            kStart     text = Beginning
//   kSaid      rank, value = its world,        kToRank    rank, text = the message
//              text = its message
//   kNews      text = News                     kAskToEnd  value = signal, text = to be said
//   kOutput    rank, value = Stream, or        kFlow      value = Flow, as a number
//              that of an evaluator + 2,
//              text = what it wrote
//                                              kKill
//                                              kFinish    value = exit code, rank = the host that
//                                              is
//                                                         to exit after the others, or kNoHost
//   kBeat      nothing but a sign of life, from both
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/plan/host_share.h"
#include "launcher/plan/peers.h"

namespace rota::launcher {

enum class DispatchType : std::uint8_t {
  kHello = 1,
  kReady,
  kSaid,
  kNews,
  kOutput,
  kRefused,
  kShare,
  kStart,
  kToRank,
  kAskToEnd,
  kKill,
  kFlow,
  kFinish,
  kBeat,
};

inline constexpr std::uint32_t kNoHost = UINT32_MAX;
inline constexpr int kOfEvaluator = 2;  // Of kOutput.
inline constexpr int kCallAgain = 0;    // Of kRefused: there may be another world soon.

struct Dispatch {
  DispatchType type = DispatchType::kBeat;
  std::uint32_t rank = 0;
  int value = 0;
  std::string text{};

  friend bool operator==(const Dispatch&, const Dispatch&) = default;
};

std::vector<std::byte> encode(const Dispatch& dispatch);

// All that decode anything return nothing for what is not whole and well-formed.
std::optional<Dispatch> decode_dispatch(std::span<const std::byte> bytes);

// Of several hosts, to each its own.
struct HostText {
  std::size_t host = 0;
  std::string text{};

  friend bool operator==(const HostText&, const HostText&) = default;
};
std::string encode(const std::vector<HostText>& by_host);
std::optional<std::vector<HostText>> decode_host_texts(std::string_view text);

// How a host introduces itself.
struct Hello {
  std::string version;         // Of rota.
  std::string host;            // Its own name for itself.
  std::string cluster;         // What it takes the cluster to be; the same words everywhere, and so
                               // left out where somebody else tells of it.
  std::size_t slot_count = 1;  // Declared, or else found.

  // Where another launcher has started it as a rank, and has said which of its machine it is.
  std::optional<std::size_t> local_rank{};
  std::optional<std::size_t> local_count{};

  // What its programs are, in a few words that are the same where these are; empty: unknown.
  std::string program{};

  // Where it cannot run the program: the exit code that follows, and why.
  int obstacle_code = 0;
  std::string obstacle{};

  friend bool operator==(const Hello&, const Hello&) = default;
};
std::string encode(const Hello& hello);
std::optional<Hello> decode_hello(std::string_view text);

// Which ranks a host has. Its places are its own affair, and not told.
std::string encode(const Share& share);
std::optional<Share> decode_share(std::string_view text);

// Where its ranks listen, the cores that they are bound to, and the CUDA devices that they see, by
// local rank; and what is free for programs that listen themselves.
struct Seats {
  std::vector<std::string> addresses{};
  std::vector<std::string> cores{};
  std::vector<std::string> devices{};
  bool may_spin = false;
  HostPorts free{};
};
std::string encode(const Seats& seats);
std::optional<Seats> decode_seats(std::string_view text);

// What all are told when it begins.
struct Beginning {
  std::string salt{};   // Of the key of the data, which never travels itself.
  std::string table{};  // As text, whose mark is in each rank's welcome.
  Peers peers{};
};
std::string encode(const Beginning& beginning);
std::optional<Beginning> decode_beginning(std::string_view text);

}  // namespace rota::launcher
