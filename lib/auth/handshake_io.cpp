// Moves a handshake's bytes.
#include "auth/handshake_io.h"

#include "os/message_socket.h"
#include "os/tcp_socket.h"

namespace rota::auth {
namespace {

// Returns kDone once the state is no longer kTalking.
os::Io talk(Handshake& handshake, Stream& stream) {
  while (handshake.state() == Handshake::State::kTalking) {
    const bool sends = !handshake.to_send().empty();
    const os::Moved moved =
        sends ? stream.send(handshake.to_send(), {}) : stream.receive(handshake.to_receive());
    if (moved.closed) return os::Io::kClosed;
    if (moved.bytes == 0) return os::Io::kWouldBlock;
    if (sends) {
      handshake.sent(moved.bytes);
    } else {
      handshake.received(moved.bytes);
    }
  }
  return os::Io::kDone;
}

// The caller's first byte shows whether the caller encrypts.
os::Io begin(Handshake& handshake, Stream& stream) {
  if (!handshake.is_caller()) {
    std::byte first{};
    const os::Moved seen = os::peek_some(stream.fd(), {&first, 1});
    if (seen.closed) return os::Io::kClosed;
    if (seen.bytes == 0) return os::Io::kWouldBlock;
    if (first != kTlsHandshake) {
      handshake.stay_plain();
      return os::Io::kDone;
    }
  }
  stream.encrypt(handshake.is_caller() ? Tls::Side::kCaller : Tls::Side::kAnswerer,
                 handshake.key());
  return os::Io::kDone;
}

// Returns whether the answerer has sent a farewell, which is plain text, in place of encrypted
// data.
bool hears_farewell(Handshake& handshake, const Stream& stream) {
  if (!handshake.is_caller() || stream.tls()->has_heard()) return false;
  Handshake::Farewell said{};
  const os::Moved seen = os::peek_some(stream.fd(), said);
  return seen.bytes == said.size() && handshake.is_farewell(said);
}

os::Io encrypt(Handshake& handshake, Stream& stream) {
  if (!stream.is_encrypted()) return begin(handshake, stream);
  Tls& tls = *stream.tls();
  if (hears_farewell(handshake, stream)) return os::Io::kClosed;
  if (!tls.shake_hands()) {
    const Verdict verdict = tls.has_met_other_key() ? Verdict::kOtherKey : Verdict::kNone;
    if (!tls.why().empty()) handshake.give_up(tls.why(), verdict);
    return os::Io::kClosed;
  }
  if (!tls.is_ready()) return os::Io::kWouldBlock;
  handshake.bind(tls.binding());
  return os::Io::kDone;
}

}  // namespace

bool advance(Handshake& handshake, Stream& stream) {
  using State = Handshake::State;
  os::Io io = os::Io::kDone;
  while (io == os::Io::kDone &&
         (handshake.state() == State::kTalking || handshake.state() == State::kEncrypting)) {
    const bool talks = handshake.state() == State::kTalking;
    io = talks ? talk(handshake, stream) : encrypt(handshake, stream);
  }
  if (handshake.state() == State::kDone && stream.is_encrypted()) stream.tls()->trust();
  return io != os::Io::kClosed;
}

void add_to(os::PollSet& polls, const Handshake& handshake, const Stream& stream) {
  const bool is_between = handshake.state() == Handshake::State::kEncrypting;
  const bool speaks = is_between ? stream.is_encrypted() && stream.tls()->wants_to_send()
                                 : !handshake.to_send().empty();
  polls.add(stream.fd(), !speaks, speaks);
}

}  // namespace rota::auth
