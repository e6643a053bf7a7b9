// The children of this process, found and signalled without memory and without /proc.
#pragma once
#include <sys/types.h>

namespace rota::os {

// Sends `signal` to the children of this process, adopted ones too, and returns how many it has
// met. The number of a child is nobody else's before it is reaped, so that no stranger is met, as
// long as no other thread reaps. Where nothing lists them it may leave some out, if it has met any:
// whoever wants to reach all kills and reaps in turns. Allocates nothing, so that a split of a
// process with threads may call it.
int signal_children(int signal) noexcept;

}  // namespace rota::os
