// Finds free ports, and writes down where each rank may listen.
#include "launcher/plan/peers.h"

#include <nlohmann/json.hpp>

#include <rota/error.h>

#include "os/listener.h"

namespace rota::launcher {
namespace {

// Linux allows 128 KiB for one variable. Besides the list, TF_CONFIG holds its name and the task.
constexpr std::size_t kMaxListBytes = 128 * 1024 - 128;

std::string to_text(const Endpoint& endpoint) {
  const bool is_ipv6 = endpoint.host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + endpoint.host + "]" : endpoint.host) + ":" +
         std::to_string(endpoint.port);
}

std::string tf_config_of(const Peers& peers, const std::string& type, std::size_t index) {
  if (peers.list.empty()) return {};
  return R"({"cluster":{"worker":)" + peers.list + R"(},"task":{"type":")" + type +
         R"(","index":)" + std::to_string(index) + "}}";
}

}  // namespace

ClaimedPorts claim_ports(const PortRange& range, std::size_t count) {
  ClaimedPorts claimed;
  for (unsigned port = range.last; port > range.first && claimed.ports.size() < count; --port) {
    const auto number = static_cast<std::uint16_t>(port);
    try {
      if (auto claim = os::claim_port(number)) {
        claimed.ports.push_back(number);
        claimed.claims.push_back(std::move(*claim));
      }
    } catch (const Error& error) {
      claimed.trouble = error.what();
    }
  }
  return claimed;
}

Peers describe_peers(const Layout& layout, const std::vector<HostPorts>& hosts) {
  Peers peers;
  const std::size_t first_host = layout.places.front().host;
  const HostPorts& first = hosts[first_host];
  if (first.ports.empty()) return peers;
  // MASTER_PORT is a port that is not in the list of TF_CONFIG, since rank 0 may listen both there
  // and at its port of the list.
  const std::size_t further = layout.host_rank_counts[first_host];
  const bool has_further = further < first.ports.size();
  peers.first = Endpoint{first.address, first.ports[has_further ? further : 0]};
  if (!has_further) return peers;
  nlohmann::json list = nlohmann::json::array();
  for (const RankPlace& place : layout.places) {
    const HostPorts& host = hosts[place.host];
    if (place.local_rank >= host.ports.size()) return peers;
    list.push_back(to_text({host.address, host.ports[place.local_rank]}));
  }
  using Handler = nlohmann::json::error_handler_t;
  peers.list = list.dump(-1, ' ', false, Handler::replace);
  if (peers.list.size() > kMaxListBytes) peers.list.clear();
  return peers;
}

std::string tf_config(const Peers& peers, std::size_t rank) {
  return tf_config_of(peers, "worker", rank);
}

std::string tf_config_of_evaluator(const Peers& peers, std::size_t index) {
  return tf_config_of(peers, "evaluator", index);
}

}  // namespace rota::launcher
