// Evaluates the checkpoints of a training run, in place of training.
#pragma once
#include "sets.h"
#include "settings.h"

// Evaluates the validation set, or without --validation the test set. With --from, scores that
// checkpoint or safetensors file. Without --from, scores each checkpoint of --checkpoint-dir until
// the training run has ended. Returns false if SIGTERM came first. Throws rota::Error.
bool evaluate(const Settings& settings, const Sets& sets);
