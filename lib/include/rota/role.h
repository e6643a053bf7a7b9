// What this process is for in its job: to train, or to evaluate what the others train.
#pragma once
#include <cstdint>

#include <rota/export.h>

namespace rota {

enum class Role : std::uint8_t {
  kWorker,     // A rank, or a process without a role.
  kEvaluator,  // Runs beside the ranks, and is not one of them.
};

// An evaluator is a process that `rotarun … : --role evaluator PROGRAM` has started (ROTA_ROLE), or
// the task "evaluator" of TF_CONFIG where no launcher has started the process. Throws Error
// kInvalidArgument if one of the two variables makes no sense.
ROTA_EXPORT Role role();

// Returns whether rotarun has started this process beside its ranks. rotarun then sends it SIGTERM
// when all ranks have ended.
ROTA_EXPORT bool is_beside_ranks() noexcept;

}  // namespace rota
