// Writes the messages of the Errors that end a group.
#include "communicator/blame.h"

#include <algorithm>

#include "memory/kind.h"

namespace rota {
namespace {

using collectives::Wait;

Error error_of(ErrorCode code, const std::string& text, std::optional<std::size_t> blamed) {
  return blamed ? Error(code, text, *blamed) : Error(code, text);
}

// Returns the code that the other ranks throw. A mismatch concerns all ranks, so they throw
// kMismatch too.
ErrorCode code_for_all(ErrorCode code) noexcept {
  return code == ErrorCode::kMismatch ? code : ErrorCode::kAborted;
}

// If both sides of a swap receive into the memory that they send from, neither side ever sends:
// each send waits for the receive before it.
std::string describe_held_up(const Evidence& evidence) {
  const auto is_send = [](const collectives::Signature& signature) {
    return signature.collective() == collectives::Collective::kSend;
  };
  if (!evidence.held_up || !is_send(*evidence.held_up) || !is_send(*evidence.oldest)) return "";
  return "; " + to_text(*evidence.held_up) + " waits for it, because both use the same memory";
}

// Names the awaited rank. A call of MPI or NCCL may wait for any rank, and does not say for which.
std::string name_of_awaited(const Wait& wait, const RankTable& table) {
  const bool is_sure = !wait.is_any || table.rows.size() == 2;
  return name_of(wait.peer, table) + (is_sure ? "" : " or another rank");
}

}  // namespace

std::string name_of(std::size_t rank, const RankTable& table) {
  return "rank " + std::to_string(rank) + " (" + table.rows[rank].host + ")";
}

std::string to_text(const Wait& wait, const std::string& peer) {
  if (is_for_words(wait)) return "waiting for " + peer + " to say why it gave up";
  return (wait.sends ? "sending to " : "receiving from ") + peer + " (step " +
         std::to_string(wait.step + 1) + " of " + std::to_string(wait.step_count) + ", " +
         std::to_string(wait.bytes) + " of " + std::to_string(wait.step_bytes) + " bytes)";
}

Error timeout_of(const Wait& wait, const Evidence& evidence) {
  const std::string trouble(evidence.trouble);
  return {ErrorCode::kTimeout,
          to_text(wait, name_of_awaited(wait, evidence.table)) + " timed out after " +
              base::to_text(evidence.deadline) + (trouble.empty() ? "" : ": " + trouble) +
              describe_held_up(evidence),
          trouble.empty() ? wait.peer : evidence.rank};
}

Error end_of(std::size_t peer) {
  return {ErrorCode::kPeerLost, "rank " + std::to_string(peer) + " has ended", peer};
}

Error loss_of(const Error& error, const std::optional<std::string>& how, const Evidence& evidence) {
  const std::size_t peer = *error.blamed_rank();
  const std::string name = name_of(peer, evidence.table);
  const bool is_waited_for = evidence.wait && evidence.wait->peer == peer;
  const std::string text = is_waited_for ? to_text(*evidence.wait, name) : name + " was needed";
  return {ErrorCode::kPeerLost,
          text + (how ? ", but it " + *how : std::string(": ") + error.what()), peer};
}

Error in_own_words(const Error& error, const Evidence& evidence) {
  const ErrorCode code = error.code();
  // Where a device or the system has failed, other ranks must learn of what host that is.
  const bool is_of_this_rank = code == ErrorCode::kTimeout || code == ErrorCode::kPeerLost ||
                               code == ErrorCode::kSystem ||
                               (code == ErrorCode::kMismatch && evidence.oldest);
  if (!is_of_this_rank) return error;
  std::string text = name_of(evidence.rank, evidence.table) + ": ";
  if (evidence.oldest) text += to_text(*evidence.oldest);
  if (!evidence.memory.is_host()) text += " in " + memory::to_text(evidence.memory);
  if (evidence.oldest) text += ": ";
  return error_of(code, text + error.what(), error.blamed_rank());
}

Error told_by_peers(const transport::Cause& cause) {
  return {code_for_all(cause.code), cause.text, cause.blamed.value_or(cause.rank)};
}

Error told_by_launcher(const Error& cause, std::span<const std::size_t> members) {
  const auto blamed =
      cause.blamed_rank() ? std::ranges::find(members, *cause.blamed_rank()) : members.end();
  if (blamed == members.end()) return {cause.code(), cause.what()};
  return {cause.code(), cause.what(), static_cast<std::size_t>(blamed - members.begin())};
}

Error with_kept_buffers(const Error& error, std::string_view keeper) {
  return error_of(error.code(),
                  std::string(error.what()) + "; " + std::string(keeper) +
                      " may still use the buffers of calls that failed: keep them until the "
                      "process ends",
                  error.blamed_rank());
}

Error with_words_of(const Error& reason, ErrorCode code) {
  return error_of(code, reason.what(), reason.blamed_rank());
}

transport::Cause cause_of(const Error& error, std::size_t rank) {
  return {.rank = rank, .code = error.code(), .blamed = error.blamed_rank(), .text = error.what()};
}

std::optional<std::size_t> blamed_in_job(const Error& error, std::span<const std::size_t> members) {
  const auto blamed = error.blamed_rank();
  if (!blamed || *blamed >= members.size()) return std::nullopt;
  return members[*blamed];
}

}  // namespace rota
