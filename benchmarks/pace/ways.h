// The comparisons of `rota-bench pace`, one function each. All are collective, and print rows on
// rank 0. `folder` is an empty folder, which all ranks see.
#pragma once
#include <cstddef>
#include <filesystem>

#include <rota/communicator.h>
#include <rota/idx.h>

namespace rota::bench {

struct PaceArguments {
  std::filesystem::path folder;
  std::size_t rounds = 0;
};

// "plain", and "checkpoints": one every 100 steps. A run with checkpoints also has "stall", the
// median over its checkpoints, and "memcpy", a copy of the same state, both in seconds.
void compare_checkpoints(Communicator& communicator, const TrainAndTest& data,
                         const PaceArguments& arguments);

// "plain", "hook": all curves of Summaries in every step, and "writer": a SummaryWriter with the
// loss and the accuracy. Also "scalar", the seconds of a call of scalar() beside training, and
// "scalar-in-a-row", without training.
void compare_summaries(Communicator& communicator, const TrainAndTest& data,
                       const PaceArguments& arguments);

// "memory", and "records": the same images in files of records. Also both with a thread that
// gathers the batches ahead: "memory-prefetched" and "records-prefetched".
void compare_records(Communicator& communicator, const TrainAndTest& data,
                     const PaceArguments& arguments);

}  // namespace rota::bench
