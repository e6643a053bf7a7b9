// Gives a state to a training run: the common part of all classes that have a state.
#pragma once
#include <rota/communicator.h>
#include <rota/training_state.h>

namespace rota::training {

// Collective: every rank must call it. Ranks compare the pieces that they share, and then write
// `state` to the pieces that `visit` names. Throws Error kMismatch on every rank if ranks were
// given different states, or if the state fits on some ranks only. Throws Error kInvalidArgument on
// every rank if the state fits on no rank. In these cases nothing has been written. Also throws
// what collectives throw.
void give_state(Communicator& communicator, const State& state, const StateVisit& visit);

}  // namespace rota::training
