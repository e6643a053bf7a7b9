// How a rank reaches the coordinator that another rank has.
#pragma once
#include <memory>
#include <string>

#include "auth/handshake.h"
#include "base/time.h"
#include "rendezvous/line.h"

namespace rota::rendezvous {

// Calls rank 0 at `address`, "host:port", until it answers. Throws Error kTimeout at `deadline`,
// saying what was in the way; kMismatch where it refuses this rank, kSystem.
std::unique_ptr<Line> call_host(const std::string& address, const auth::Credentials& own,
                                const auth::Identity& identity, base::TimePoint deadline);

}  // namespace rota::rendezvous
