// The outer of rotarun's two processes. It does nothing that could fail, so that it can clean up
// when the inner one, which runs the job, is killed; and the inner one ends the job when the outer
// one is. Whichever is killed, no process of the job stays behind.
#pragma once
#include <sys/types.h>

#include <functional>

#include "os/signals.h"

namespace rota::launcher {

// Runs `body` in a child, which is told the guard's id, and returns its result; returns twice, once
// in each process. Signals that ask for the job's end are passed on to the child. Throws Error
// kSystem.
int run_guarded(os::SignalWatch& signals, const std::function<int(pid_t guard)>& body);

}  // namespace rota::launcher
