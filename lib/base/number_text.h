// Writes numbers with a point as text. The text is the same in every locale of the process: ranks
// compare texts, and checkpoints and files keep them.
#pragma once
#include <string>

namespace rota::base {

// Returns the shortest text from which the same number can be read: "0.1", "1e-07", "inf". Texts of
// two numbers differ if the numbers do.
std::string shortest_text(double number);

// Returns a text for people, rounded to `digits` significant digits, without zeros at the end:
// "0.00123", "1.5", "1.2e+09".
std::string rounded_text(double number, int digits);

// Returns a text for people, with `digits` digits after the point: "1.50".
std::string fixed_text(double number, int digits);

}  // namespace rota::base
