// Visits the state of a hook of a training run. Hooks of a Trainer and of a Session share this
// code.
#pragma once
#include <rota/training_state.h>

namespace rota::training {

// Visits the pieces that `hook` names. A run may be resumed with a hook that it did not have
// before, so the strict pieces of a hook become kIfThere. `is_chiefs`: only rank 0 has the hook, so
// its pieces become kRank. If the hook fails, throws Error with a text that says so.
void visit_hook(StateVisitor& visitor, bool is_chiefs, const StateVisit& hook);

}  // namespace rota::training
