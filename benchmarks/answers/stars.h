// Predicts the sums of parameter servers: each server has a slice of the values, and is the hub of
// a star whose other ranks are all workers. rota has no parameter servers. The page of scaling
// compares them with a ring.
#pragma once
#include <cstddef>

#include "predict/prediction.h"

namespace rota::bench {

// Returns the seconds until all workers have the sum of `count` elements. The first `worker_count`
// ranks of the model are workers, and the other ranks are servers with equal slices. Requires a
// worker and a server.
double predict_stars(const WorldModel& model, std::size_t worker_count, std::size_t count);

}  // namespace rota::bench
