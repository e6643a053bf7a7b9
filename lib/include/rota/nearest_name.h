// Finds the known name that a user probably meant, for the error about an unknown name.
#pragma once
#include <span>
#include <string_view>

#include <rota/export.h>

namespace rota {

// Returns the name in `known` that is nearest to `name`, by the number of characters to insert,
// remove or replace. Empty if none is near.
ROTA_EXPORT std::string_view nearest_name(std::string_view name,
                                          std::span<const std::string_view> known);

}  // namespace rota
