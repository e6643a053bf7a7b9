// The environment that a rank starts with.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/options.h"

namespace rota::launcher {

// What rotarun promises each rank, as ROTA_* variables.
struct RankContract {
  std::size_t rank = 0;
  std::size_t world_size = 1;
  std::size_t local_rank = 0;
  std::size_t local_world_size = 1;
  int rendezvous_fd = -1;
  std::optional<int> terminal_columns;
};

// `base` with the variables of -x and those of the contract in place of what they had there.
std::vector<std::string> make_environment(const std::vector<std::string>& base,
                                          const std::vector<Variable>& variables,
                                          const RankContract& contract);

// The value of a variable, or empty.
std::string find_variable(const std::vector<std::string>& environment, std::string_view name);

// The names among `variables` that are to be passed on but are not set.
std::vector<std::string> unset_variables(const std::vector<std::string>& environment,
                                         const std::vector<Variable>& variables);

}  // namespace rota::launcher
