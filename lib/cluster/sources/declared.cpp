// Reads the ROTA_* variables, which a person sets in a pod template or in a shell.
#include <algorithm>

#include "cluster/host_names.h"
#include "cluster/sources.h"
#include "cluster/sources/host_list.h"

namespace rota::cluster {
namespace {

bool is_number(const std::string& text) {
  // Text that begins like a negative number is meant as a number, not as a host.
  return text.empty() || text.front() == '-' ||
         text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

Declared read_declared(const Environment& environment) {
  constexpr Range kCounts{.least = 1, .most = kMaxRanks};
  Declared declared;
  const std::string* hosts = environment.find("ROTA_HOSTS");
  if (hosts && is_number(*hosts)) declared.host_count = to_number("ROTA_HOSTS", *hosts, kCounts);
  declared.world_size = environment.number("ROTA_WORLD", kCounts);
  declared.slots = environment.number("ROTA_SLOTS", kCounts);
  declared.ordinal_start =
      environment.number("ROTA_ORDINAL_START", {.least = 0, .most = kMaxOrdinal}).value_or(0);
  if (const std::string* service = environment.find("ROTA_SERVICE")) {
    const NameAndNumber parts = split_name("ROTA_SERVICE", *service);
    if (parts.number) refuse("ROTA_SERVICE is " + shown(*service) + ": give a name without a port");
    declared.service = parts.name;
  }
  return declared;
}

std::optional<Specification> from_rota_hosts(const Given& given) {
  const std::string* hosts = given.environment.find("ROTA_HOSTS");
  if (!hosts || is_number(*hosts)) return std::nullopt;
  return specification_of_hosts("ROTA_HOSTS", parse_host_list("ROTA_HOSTS", *hosts), given);
}

}  // namespace rota::cluster
