// What the launchers of one job say to each other: those of other hosts to the leader, which is
// host 0's, and the leader to them.
//
//   to the leader                              from the leader
//   kHello     text = Hello                    kRefused   value = exit code, text = why; the end
//                                              kShare     text = Share, once all are here
//   kReady     text = Seats                    kStart     text = Beginning
//   kSaid      rank, text = its message        kToRank    rank, text = the message
//   kNews      text = News                     kAskToEnd  value = signal, text = to be said
//                                              kKill
//                                              kFinish    value = exit code, rank = 1: as the last
//   kBeat      nothing but a sign of life, from both
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/host_share.h"
#include "launcher/peers.h"

namespace rota::launcher {

enum class DispatchType : std::uint8_t {
  kHello = 1,
  kReady,
  kSaid,
  kNews,
  kRefused,
  kShare,
  kStart,
  kToRank,
  kAskToEnd,
  kKill,
  kFinish,
  kBeat,
};

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

// How a host introduces itself.
struct Hello {
  std::string version;         // Of rota.
  std::string host;            // Its own name for itself.
  std::string cluster;         // What it takes the cluster to be; the same words everywhere.
  std::string instance;        // Drawn when it started, to tell it from another one in its place.
  std::size_t slot_count = 1;  // Declared, or else found.

  // What its program is, in a few words that are the same where the program is; empty: unknown.
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

// Where its ranks listen, and the cores that they are bound to, by local rank; and what is free for
// programs that listen themselves.
struct Seats {
  std::vector<std::string> addresses{};
  std::vector<std::string> cores{};
  bool may_spin = false;
  HostPorts free{};
};
std::string encode(const Seats& seats);
std::optional<Seats> decode_seats(std::string_view text);

// What all are told when it begins.
struct Beginning {
  std::string salt{};  // Of the key of the data, which never travels itself.
  Peers peers{};
};
std::string encode(const Beginning& beginning);
std::optional<Beginning> decode_beginning(std::string_view text);

}  // namespace rota::launcher
