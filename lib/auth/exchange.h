// A handshake over a socket.
#pragma once
#include "auth/handshake.h"

namespace rota::auth {

// Moves what can be moved now over a socket that does not block; false when the connection ended.
// Stops where the caller's word is needed, which is where the state is no longer kTalking.
bool advance(Handshake& handshake, int socket);

}  // namespace rota::auth
