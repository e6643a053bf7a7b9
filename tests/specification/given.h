// Makes inputs for the tests of the sources that can describe a job (variables, flags, files), and
// shows what rota reads from them.
#pragma once
#include <string>
#include <vector>

#include <rota/error.h>

#include "cluster/reading.h"

namespace rota::cluster {

// A plain host, not a pod: its name has no ordinal.
inline constexpr const char* kPlainHost = "alpha";

inline Given given_of(const std::vector<std::string>& variables,
                      const std::string& host_name = kPlainHost) {
  return {.environment = Environment(variables), .host_name = host_name};
}

// Returns the words of the refusal, or "accepted: …".
inline std::string refusal_of(const Given& given) {
  try {
    return "accepted: " + to_text(read(given).chosen);
  } catch (const Error& error) {
    return error.code() == ErrorCode::kInvalidArgument ? error.what() : "another code";
  }
}

// Returns a text such as "a b:2222 c*2 [x]": each host with its port and its slots. Brackets mark
// hosts without ranks.
inline std::string hosts_text(const Specification& specification) {
  std::string text;
  for (std::size_t i = 0; i < specification.hosts.size(); ++i) {
    const Host& host = specification.hosts[i];
    std::string name = host.name.empty() ? "?" : name_of(specification, i);
    if (host.slots) name += "*" + std::to_string(*host.slots);
    text += (i == 0 ? "" : " ") + (is_in_ring(host.role) ? name : "[" + name + "]");
  }
  return text;
}

}  // namespace rota::cluster
