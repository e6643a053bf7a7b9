// The session of a Trainer that saves checkpoints.
#pragma once
#include <memory>

#include <rota/checkpoint.h>
#include <rota/communicator.h>
#include <rota/training_session.h>

namespace rota::training {

// `communicator` is borrowed. Making a session is not collective, but its begin() is.
std::unique_ptr<TrainingSession> make_session(Communicator& communicator,
                                              const CheckpointOptions& options);

}  // namespace rota::training
