// Sorts names that contain numbers in the order of the numbers.
#pragma once
#include <string_view>

namespace rota::names {

// Returns whether `one` comes before `other` if runs of digits count as numbers of any length:
// mnist-9 is before mnist-10, and set-1-10 before set-2-9. A name never comes before itself.
bool comes_before(std::string_view one, std::string_view other) noexcept;

}  // namespace rota::names
