// Predicts which digits images show, in place of training.
#pragma once
#include <rota/dataset.h>

#include "settings.h"

// Prints the class of each image of --predict, by a model with the parameters of --from. The model
// is for images and classes as in `trained`, the set that the ranks train on. Throws rota::Error.
void predict(const Settings& settings, const rota::Dataset& trained);
