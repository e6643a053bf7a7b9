// What somebody may have meant: for the error that an unknown name deserves.
#pragma once
#include <span>
#include <string_view>

#include <rota/export.h>

namespace rota {

// The one of `known` that is nearest to `name` in letters to insert, remove or replace, or empty
// where none is near.
ROTA_EXPORT std::string_view nearest_name(std::string_view name,
                                          std::span<const std::string_view> known);

}  // namespace rota
