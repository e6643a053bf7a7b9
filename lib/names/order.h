// The order of names that end in numbers.
#pragma once
#include <string_view>

namespace rota::names {

// Whether one name comes before another where runs of digits are numbers, of any length: mnist-9
// before mnist-10, and set-1-10 before set-2-9. The same names are never before each other.
bool comes_before(std::string_view one, std::string_view other) noexcept;

}  // namespace rota::names
