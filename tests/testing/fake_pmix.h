// A libpmix of tests, in the place of the real one, whose server answers what a test wants. The
// library has the name by which rota opens the real one. A program that is linked with it has it
// loaded already, so rota finds it first.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace rota::testing {

// What the server knows and does. A test sets it before it makes a store.
struct FakePmix {
  std::uint32_t rank = 0;  // Of this process.
  // The answers about the job, and what ranks have put.
  std::map<std::string, std::variant<std::uint32_t, std::string>> values{};
  bool ends_fences = true;  // False: a rank has not come.
  int connections = 0;      // Calls of PMIx_Init, less those of PMIx_Finalize.
};
FakePmix& fake_pmix() noexcept;

// Ends the last fence that has not ended: the last rank comes late.
void end_late_fence();

}  // namespace rota::testing
