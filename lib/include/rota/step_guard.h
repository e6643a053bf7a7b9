// Lets a copy of the state be made while the next step already computes: the step announces each
// piece of memory before it writes there.
#pragma once
#include <cstddef>

#include <rota/export.h>

namespace rota {

// Called on the thread that trains, in each step, and when the values of a Replica are replaced
// between steps. An exception ends the step.
class ROTA_EXPORT StepGuard {
 public:
  virtual ~StepGuard() = default;

  // The step is about to update parameter `parameter`, and what the optimizer keeps for it: the
  // pieces of StateWriter::kUpdate with this index.
  virtual void before_update(std::size_t parameter) = 0;

  // The step is about to send bucket `bucket`, which changes what the codec has lost in it: the
  // piece of StateWriter::kSend with this index.
  virtual void before_send(std::size_t bucket) = 0;

  // The step updates no parameter in host memory: no rank has samples, or the parameters are on a
  // device, and their copies on the host change later, after before_update().
  virtual void skip_update() {}
};

}  // namespace rota
