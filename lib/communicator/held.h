// What this process has joined and still holds: the Communicator by which further ones of the same
// job can be made.
#pragma once
#include <memory>

#include "communicator/impl.h"

namespace rota {

// Notes the Communicator that has joined by these options. Both are thread-safe.
void note_joined(const CommunicatorOptions& options,
                 const std::shared_ptr<CommunicatorImpl>& communicator);

// The one that has joined by the same descriptor, or at the same place of the same table.
// Null where there is none.
std::shared_ptr<CommunicatorImpl> held_by(const CommunicatorOptions& options);

}  // namespace rota
