// Starts a thread that gets no signals from other processes: such signals are for the program's
// threads.
#pragma once
#include <functional>
#include <thread>

namespace rota::os {

// Throws Error kSystem.
std::thread start_quiet_thread(std::function<void()> body);

}  // namespace rota::os
