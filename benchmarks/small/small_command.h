// What many small buffers cost beside one large one: as a group, as calls in flight, one by one.
#pragma once

namespace rota::bench {

// Collective, of all ranks of the job. Returns the exit code.
int run_small_command(int argument_count, char** arguments);

}  // namespace rota::bench
