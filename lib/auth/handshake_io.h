// Runs a handshake over a connection, and encrypts the connection midway if both sides encrypt.
#pragma once
#include "auth/handshake.h"
#include "auth/stream.h"
#include "os/poll_set.h"

namespace rota::auth {

// Moves the bytes that can be moved now. Returns false if the connection has ended. Stops when the
// caller of this function must decide: when the state is neither kTalking nor kEncrypting. Throws
// Error kSystem.
bool advance(Handshake& handshake, Stream& stream);

// Adds the connection to `polls`. Call advance() when the connection is ready.
void add_to(os::PollSet& polls, const Handshake& handshake, const Stream& stream);

}  // namespace rota::auth
