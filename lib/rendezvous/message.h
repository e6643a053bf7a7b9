// What ranks and the launcher's coordinator say to each other, one message a packet.
//
//   rank → coordinator                        coordinator → rank
//   kJoin     first message, text = the mark  kWelcome   text = job, with descriptors: its table,
//             of the table that it has, if any           and those that the table tells of. Where
//                                                        none travel, the table follows in pieces,
//                                                        a kWelcome each, to who has another one
//   kPut      key, value                      (nothing)
//   kGet      key, timeout                    kReply     value, or why there is none
//   kBarrier  key, timeout                    kReply     when all have come, or who is absent
//   kWaiting  blamed (the rank waited for),   kDeparted  where that one has; or
//             key?, text (in what operation)  kAborted   to all, when ranks with one key differ.
//                                                        Sent once a wait has lasted 100 ms
//   kResumed  that wait is over               (nothing)
//   kAbort    code, blamed?, text             kAborted   to every other rank: the first cause; of
//                                                        a timeout to all, with who waits for whom
//   kLeave    done with the job, in order     kDeparted  to who waits for it: blamed, text = how;
//                                                        to all of the first who ends otherwise
//   kTraining begins to train, timeout        kReply     when it may take its first step
//   kTrained  step, the last one begun: takes (nothing)
//             none before it asks by kTraining
//   kBegun    step, the last one begun so far kStopAfter to all, when all who train have answered:
//             (the answer to kStopAsked)                 step, the highest that anybody has begun
//
// kReply answers the request of the same `id`. kAborted, kDeparted and kStopAsked come unasked.
// After kStopAsked a rank that trains begins no step until it is told the last one. So the ranks
// stop after the same step, and none waits in another one for those who have stopped.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rota/error.h>

namespace rota::rendezvous {

enum class MessageType : std::uint8_t {
  kJoin = 1,
  kPut,
  kGet,
  kBarrier,
  kWaiting,
  kResumed,
  kAbort,
  kTraining,
  kTrained,
  kBegun,
  kLeave,
  kWelcome,
  kReply,
  kAborted,
  kDeparted,
  kStopAsked,
  kStopAfter,
};

// One shape for all: a field that a type does not use stays empty.
struct Message {
  MessageType type = MessageType::kJoin;
  std::uint32_t id = 0;                   // Pairs a kReply with its request.
  std::optional<ErrorCode> error{};       // kReply: why it failed; kAbort, kAborted: the code.
  std::optional<std::uint32_t> blamed{};  // A rank.
  std::chrono::nanoseconds timeout{0};    // kGet, kBarrier, kTraining.
  std::uint64_t step = 0;                 // Counted from 1, since the rank joined.
  std::string key{};
  std::string text{};  // A value, or a sentence for a person.

  friend bool operator==(const Message&, const Message&) = default;
};

std::vector<std::byte> encode(const Message& message);

// Empty when `bytes` are not a whole, well-formed message of this version and nothing more.
std::optional<Message> decode(std::span<const std::byte> bytes) noexcept;

}  // namespace rota::rendezvous
