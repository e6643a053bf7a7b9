// The models that the example can train.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <rota/model.h>

// Returns the layers of "seed", "mlp" or "lenet".
std::vector<rota::Layer> layers_of(const std::string& model, std::size_t classes);
