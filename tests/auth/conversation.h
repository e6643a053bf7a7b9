// The two sides of a handshake, caller and answerer, without a connection between them. The test
// carries their messages and may change them.
#pragma once
#include "auth/bytes.h"
#include "auth/handshake.h"

namespace rota::auth {

using State = Handshake::State;

inline Identity some_identity() {
  Identity identity;
  identity.kind = ConnectionKind::kData;
  std::ranges::copy(counting(identity.job_id.size(), 0x40), identity.job_id.begin());
  identity.incarnation = 0x3132333435363738;
  identity.epoch = 0x0102030405060708;
  identity.from = 0x11121314;
  identity.to = 0x21222324;
  return identity;
}

// Returns all that `speaker` sends until it needs an answer.
inline Bytes said_by(Handshake& speaker) {
  Bytes said;
  while (!speaker.to_send().empty()) {
    said.insert(said.end(), speaker.to_send().begin(), speaker.to_send().end());
    speaker.sent(speaker.to_send().size());
  }
  return said;
}

// Returns how many bytes of `said` the listener accepted.
inline std::size_t tell(Handshake& listener, std::span<const std::byte> said) {
  std::size_t heard = 0;
  while (heard < said.size() && !listener.to_receive().empty()) {
    const auto room = listener.to_receive();
    const std::size_t bytes = std::min(room.size(), said.size() - heard);
    std::ranges::copy(said.subspan(heard, bytes), room.begin());
    listener.received(bytes);
    heard += bytes;
  }
  return heard;
}

struct Conversation {
  Handshake caller = Handshake::call(some_key(), some_identity());
  Handshake answerer = Handshake::answer(some_key(), some_identity().incarnation);
  Bytes challenge;
  Bytes call;
  Bytes verdict;

  // Each function stores one side's next message in a field above, and gives it to the other side.
  void listen_to_challenge() {
    challenge = said_by(answerer);
    tell(caller, challenge);
  }
  void listen_to_call() {
    call = said_by(caller);
    tell(answerer, call);
  }
  void listen_to_verdict() {
    verdict = said_by(answerer);
    tell(caller, verdict);
  }
};

inline Conversation accepted_conversation() {
  Conversation talk;
  talk.listen_to_challenge();
  talk.listen_to_call();
  talk.answerer.accept();
  talk.listen_to_verdict();
  return talk;
}

}  // namespace rota::auth
