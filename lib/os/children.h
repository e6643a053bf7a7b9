// Finds and signals the children of this process. Allocates no memory, and works with and without
// /proc.
#pragma once
#include <sys/types.h>

namespace rota::os {

// Sends `signal` to the children of this process, adopted ones too, and returns how many children
// it found. A child keeps its number until it is reaped. So the signal reaches no other process if
// no other thread reaps. Without the kernel's list of children, the function may miss some children
// once it has found one. A caller that must reach all children repeats killing and reaping until no
// child is left. Allocates nothing, so the forked child of a process with threads may call it.
int signal_children(int signal) noexcept;

}  // namespace rota::os
