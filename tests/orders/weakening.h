// Shows that each order of each atomic operation is needed: with any weaker order, some program
// goes wrong. No fault has to be planted in the sources, as the explorer sees the order of an
// operation as an argument, and can pass on another one.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "orders/explorer.h"

namespace rota::orders {

struct Program {
  std::string name;
  std::function<void()> body;
  std::vector<std::span<std::byte>> memory{};  // As in Options.
};

// Runs each program as it is, and expects that it has no fault. Then weakens the operations of the
// files that it makes, line by line. Two things are failures of the test: a line that works with a
// weaker order in all programs, and a line with an order that no program makes. `files` have names
// such as "lib/a/b.h". Each order is named in the first line of its
// operation.
void expect_needed_orders(const std::vector<std::string>& files,
                          const std::vector<Program>& programs);

// Describes the events of the last run, one in each line.
std::string story_of(const Report& report);

}  // namespace rota::orders
