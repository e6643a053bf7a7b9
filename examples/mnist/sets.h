// The sets of images: to train on, to choose settings by (validation), and to report on (test).
#pragma once
#include <optional>

#include <rota/dataset.h>
#include <rota/idx.h>

#include "settings.h"

struct Sets {
  rota::DatasetView train;
  std::optional<rota::DatasetView> validation;  // Empty without --validation.
  rota::DatasetView test;
};

// `data` is borrowed. The sets depend on `data`, --validation and --seed alone, so an evaluator
// with the same flags has the sets of the ranks. Throws rota::Error if a set would be empty.
Sets sets_of(const rota::TrainAndTest& data, const Settings& settings);
