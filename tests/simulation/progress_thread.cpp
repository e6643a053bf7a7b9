// Replaces the thread that drives requests nobody waits for: simulated ranks wait for all requests
// that they begin.
#include "communicator/progress_thread.h"

namespace rota {

void ProgressThread::start() {}
void ProgressThread::wake() noexcept {}
void ProgressThread::stop() noexcept {}

}  // namespace rota
