// Moves a handshake's bytes.
#include "auth/exchange.h"

#include "os/tcp_socket.h"

namespace rota::auth {

bool advance(Handshake& handshake, int socket) {
  while (handshake.state() == Handshake::State::kTalking) {
    const bool sends = !handshake.to_send().empty();
    const os::Moved moved = sends ? os::send_some(socket, handshake.to_send(), {})
                                  : os::receive_some(socket, handshake.to_receive());
    if (moved.closed) return false;
    if (moved.bytes == 0) return true;
    if (sends) {
      handshake.sent(moved.bytes);
    } else {
      handshake.received(moved.bytes);
    }
  }
  return true;
}

}  // namespace rota::auth
