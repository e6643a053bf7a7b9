// What is common to all that can be given a state.
#pragma once
#include <rota/communicator.h>
#include <rota/training_state.h>

namespace rota::training {

// Writes `state` to what `visit` names, once all ranks have compared what they share. Collective.
// Throws Error kMismatch, on every rank, where ranks were given different states, or where it fits
// on some alone; kInvalidArgument, on every rank, where it fits on none. Nothing has been written
// then. And what collectives throw.
void give_state(Communicator& communicator, const State& state, const StateVisit& visit);

}  // namespace rota::training
