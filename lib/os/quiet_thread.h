// A thread that no signal from elsewhere is delivered to: those belong to the program's own
// threads.
#pragma once
#include <functional>
#include <thread>

namespace rota::os {

// Throws Error kSystem.
std::thread start_quiet_thread(std::function<void()> body);

}  // namespace rota::os
