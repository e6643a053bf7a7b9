// Fuzzes a handshake whose messages change on the way, in pieces of any length.
//   first byte    flag 1: changes go to the caller, otherwise to the answerer; flag 2: the
//                 attacker holds the key, so the proof is right; flag 4: the answerer refuses
//   second byte   the length of the pieces
//   the rest      the changes: the message is XORed with them
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "auth/handshake.h"
#include "fuzz/fuzz.h"

namespace {

using namespace rota;
using auth::Handshake;
using State = auth::Handshake::State;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kProofBytes = sizeof(auth::Digest);

auth::Key some_key() {
  auth::Key key;
  std::ranges::fill(key.bytes(), std::byte{7});
  return key;
}

Bytes said_by(Handshake& speaker) {
  Bytes said;
  while (!speaker.to_send().empty()) {
    said.insert(said.end(), speaker.to_send().begin(), speaker.to_send().end());
    speaker.sent(speaker.to_send().size());
  }
  return said;
}

void tell(Handshake& listener, std::span<const std::byte> said, std::size_t piece_bytes) {
  while (!said.empty() && !listener.to_receive().empty()) {
    const auto room = listener.to_receive();
    const std::size_t bytes = std::min({room.size(), said.size(), piece_bytes});
    std::ranges::copy(said.first(bytes), room.begin());
    listener.received(bytes);
    said = said.subspan(bytes);
  }
}

// Changes the message. Returns whether a bit changed.
bool change(Bytes& message, std::span<const std::uint8_t> changes) {
  bool has_changed = false;
  for (std::size_t i = 0; i < std::min(message.size(), changes.size()); ++i) {
    message[i] ^= static_cast<std::byte>(changes[i]);
    has_changed = has_changed || changes[i] != 0;
  }
  return has_changed;
}

// Ends the message with its proof. `before` holds the messages before it.
void prove(Bytes& message, const char* label, std::span<const std::byte> before) {
  Bytes text;
  for (const char* c = label; *c != '\0'; ++c) text.push_back(static_cast<std::byte>(*c));
  text.insert(text.end(), before.begin(), before.end());
  text.insert(text.end(), message.begin(), message.end() - kProofBytes);
  std::ranges::copy(auth::hmac_sha256(some_key().bytes(), text), message.end() - kProofBytes);
}

void require_sound(const Handshake& handshake) {
  fuzz::require(handshake.why().size() <= Handshake::kMaxReasonBytes, "a reason has a limit");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  if (count < 2) return 0;
  const bool is_to_caller = (data[0] & 1) != 0;
  const bool holds_key = (data[0] & 2) != 0;
  const bool refuses = (data[0] & 4) != 0;
  const std::size_t piece_bytes = data[1] + std::size_t{1};
  const std::span changes(data + 2, count - 2);

  auth::Identity identity{.incarnation = 5, .from = 1};
  Handshake caller = Handshake::call(some_key(), identity);
  Handshake answerer = Handshake::answer(some_key(), 5);
  const Bytes challenge = said_by(answerer);
  tell(caller, challenge, piece_bytes);
  Bytes call = said_by(caller);
  bool has_changed = !is_to_caller && change(call, changes);
  if (!is_to_caller && holds_key) prove(call, "rota/1 C", challenge);
  tell(answerer, call, piece_bytes);
  require_sound(answerer);
  if (!is_to_caller && has_changed && !holds_key) {
    fuzz::require(answerer.state() == State::kStranger, "a change is noticed");
    fuzz::require(answerer.identity() == auth::Identity(), "nobody is taken for anybody");
    fuzz::require(answerer.to_send().empty(), "a stranger is told nothing");
  }
  if (answerer.state() == State::kAsking) {
    if (refuses) {
      answerer.refuse(auth::Verdict::kNever, {reinterpret_cast<const char*>(data), count});
    } else {
      answerer.accept();
    }
  }
  require_sound(answerer);
  Bytes verdict = said_by(answerer);
  if (verdict.empty()) return 0;
  has_changed = is_to_caller && change(verdict, changes);
  if (is_to_caller && holds_key) {
    Bytes before = challenge;
    before.insert(before.end(), call.begin(), call.end());
    prove(verdict, "rota/1 S", before);
  }
  tell(caller, verdict, piece_bytes);
  require_sound(caller);
  fuzz::require(caller.why().find('\0') == std::string::npos, "a reason that was heard is text");
  fuzz::require(caller.state() != State::kTalking, "a verdict ends it");
  if (has_changed && !holds_key) {
    fuzz::require(caller.state() == State::kStranger, "a change is noticed");
  }
  return 0;
}
