// The environment that a rank starts with.
#include "launcher/rank_environment.h"

#include <algorithm>

namespace rota::launcher {
namespace {

bool is_of(std::string_view entry, std::string_view name) {
  return entry.starts_with(name) && entry.substr(name.size()).starts_with('=');
}

void unset(std::vector<std::string>& environment, const std::string& name) {
  std::erase_if(environment, [&](const std::string& entry) { return is_of(entry, name); });
}

void set(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  unset(environment, name);
  environment.push_back(name + "=" + value);
}

}  // namespace

std::vector<std::string> make_environment(const std::vector<std::string>& base,
                                          const std::vector<Variable>& variables,
                                          const RankContract& contract) {
  std::vector<std::string> environment = base;
  for (const Variable& variable : variables) {
    if (variable.value) set(environment, variable.name, *variable.value);
  }
  const std::string rank = std::to_string(contract.rank);
  const std::string world_size = std::to_string(contract.world_size);
  set(environment, "ROTA_RANK", rank);
  set(environment, "ROTA_WORLD_SIZE", world_size);
  set(environment, "ROTA_LOCAL_RANK", std::to_string(contract.local_rank));
  set(environment, "ROTA_LOCAL_WORLD_SIZE", std::to_string(contract.local_world_size));
  set(environment, "ROTA_RENDEZVOUS_FD", std::to_string(contract.rendezvous_fd));
  unset(environment, "ROTA_TERMINAL");
  if (contract.terminal_columns) {
    set(environment, "ROTA_TERMINAL", std::to_string(*contract.terminal_columns));
  }
  return environment;
}

std::string find_variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (is_of(entry, name)) return entry.substr(name.size() + 1);
  }
  return {};
}

std::vector<std::string> unset_variables(const std::vector<std::string>& environment,
                                         const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) {
    const bool is_set =
        std::any_of(environment.begin(), environment.end(),
                    [&](const std::string& entry) { return is_of(entry, variable.name); });
    if (!variable.value && !is_set) names.push_back(variable.name);
  }
  return names;
}

}  // namespace rota::launcher
