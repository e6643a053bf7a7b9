// Splits the training images.
#include "sets.h"

#include <rota/split.h>

#include <utility>

Sets sets_of(const rota::TrainAndTest& data, const Settings& settings) {
  if (settings.validation == 0) return {data.train, std::nullopt, data.test};
  rota::DatasetSplit parts = rota::split(
      data.train,
      {.validation = settings.validation, .seed = settings.trainer.seed, .stratified = true});
  return {std::move(parts.train), std::move(parts.validation), data.test};
}
