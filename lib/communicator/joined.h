// Finds the Communicator with which this process has joined a job, so that more communicators of
// the same job can be made.
#pragma once
#include <memory>

#include "communicator/impl.h"

namespace rota {

// Records the Communicator with which this process has joined a job, and the options. Both
// functions of this header are thread-safe.
void note_joined(const CommunicatorOptions& options,
                 const std::shared_ptr<CommunicatorImpl>& communicator);

// Returns the Communicator that was recorded for the same descriptor, or for the same rank of the
// same table. Returns null if there is none.
std::shared_ptr<CommunicatorImpl> find_joined(const CommunicatorOptions& options);

}  // namespace rota
