// The messages between ranks and the job's coordinator, one message in a packet. A row shows what a
// rank sends, or an event in parentheses, and what the coordinator then sends. A "?" marks a field
// that may be empty. The mark of a rank table is a short hash of its text (TableMark).
//
//   rank → coordinator                        coordinator → rank
//   kJoin     the rank's first message.       kWelcome   text: the job. If the job hands over
//             text: the mark of the rank                 descriptors: the table's descriptor, and
//             table that the user gave the               those of job.h. If it does not: the table
//             rank, if any.                              follows in pieces, one kWelcome each,
//                                                        unless its mark is the mark of the kJoin.
//   kPut      key, text (the value)           (nothing).
//   kGet      key, timeout                    kReply     text: the value, or why there is none.
//   kBarrier  key, timeout                    kReply     when all ranks have come; or text: which
//                                                        ranks are absent.
//   kWaiting  blamed (the rank that this      kDeparted  if the blamed rank has departed; or
//             rank waits for), key?, text     kAborted   to all ranks, if two ranks sent one key
//             (the operation). Sent after a              with different texts.
//             wait of 100 ms.
//   kResumed  the wait of kWaiting is over    (nothing).
//   kAbort    code, blamed?, text             kAborted   to all other ranks: the first cause. If it
//                                                        is a timeout: to all ranks, and the text
//                                                        has the chain of waits.
//   kLeave    the rank is done with the job,  kDeparted  to the ranks that wait for this rank.
//             and has not failed.                        blamed: this rank; text: how it ended.
//   (a rank ends without kLeave)              kDeparted  to all ranks, for the first such rank of
//                                                        the job; for further ones as after kLeave.
//   kTraining timeout. The rank begins to     kReply     when the rank may take its first step.
//             train.
//   kTrained  step (the last one begun). The  (nothing).
//             rank begins no further step
//             before its next kTraining.
//   (the launcher asks the job to stop)       kStopAsked to each rank that trains.
//   kBegun    step (the last one begun so     kStopAfter to all ranks, when all ranks that train
//             far). The answer to kStopAsked             have answered. step: the highest one that
//                                                        a rank has begun.
//
// kReply answers the request with the same `id`. kAborted, kDeparted, kStopAsked and kStopAfter
// come without a request. After kStopAsked, a rank that trains begins no step until kStopAfter
// tells it the last one. So all ranks stop after the same step, and no rank waits in a later step
// for ranks that have stopped.
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

// One struct serves all types: a field that a type does not use stays empty.
struct Message {
  MessageType type = MessageType::kJoin;
  std::uint32_t id = 0;                   // Pairs a kReply with its request.
  std::optional<ErrorCode> error{};       // kReply: the failure; kAbort, kAborted: the code.
  std::optional<std::uint32_t> blamed{};  // A rank.
  std::chrono::nanoseconds timeout{0};    // kGet, kBarrier, kTraining.
  std::uint64_t step = 0;                 // Counted from 1, since the rank joined.
  std::string key{};
  std::string text{};  // A value, or a sentence for a person.

  friend bool operator==(const Message&, const Message&) = default;
};

std::vector<std::byte> encode(const Message& message);

// Returns nothing if `bytes` are not exactly one complete, well-formed message of this version.
std::optional<Message> decode(std::span<const std::byte> bytes) noexcept;

}  // namespace rota::rendezvous
