// The bytes that calls put on the cables of hosts.
#pragma once
#include <cstddef>
#include <span>

#include "predict/simulation.h"

namespace rota::bench {

// Returns how long the bytes of all calls together keep the busiest cable busy: one direction of
// the cable of one host. No order of messages makes this time shorter. Requires calls without a
// codec, by algorithms that have plans. Throws std::invalid_argument as plan_call() does.
double busiest_cable_seconds(const WorldModel& model, std::span<const Call> calls);

}  // namespace rota::bench
