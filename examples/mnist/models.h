// The models that can be trained.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <rota/model.h>

// Of "seed", "mlp" or "lenet".
std::vector<rota::Layer> layers_of(const std::string& model, std::size_t classes);
