// A handshake over a connection, which the two encrypt on the way where both are to.
#pragma once
#include "auth/handshake.h"
#include "auth/stream.h"
#include "os/poll_set.h"

namespace rota::auth {

// Moves what can be moved now; false when the connection ended. Stops where the caller's word is
// needed, which is where the state is neither kTalking nor kEncrypting. Throws Error kSystem.
bool advance(Handshake& handshake, Stream& stream);

// To be moved on when the connection is ready for what comes next.
void add_to(os::PollSet& polls, const Handshake& handshake, const Stream& stream);

}  // namespace rota::auth
