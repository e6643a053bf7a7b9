// Fuzzes lists of hosts: "a:2,b:2", the lines of a hostfile, and the lines of batch systems.
#include "cluster/sources/host_list.h"
#include "fuzz/fuzz.h"

namespace {

using namespace rota;

void require_sound(const std::vector<cluster::Host>& hosts) {
  fuzz::require(!hosts.empty() && hosts.size() <= cluster::kMaxRanks, "hosts have a limit");
  for (const cluster::Host& host : hosts) {
    fuzz::require(!host.name.empty(), "each has a name");
    fuzz::require(host.slots.value_or(1) >= 1 && host.slots.value_or(1) <= cluster::kMaxRanks,
                  "slots have limits");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  const std::string_view text = fuzz::text_of(data, count);
  fuzz::may_refuse([&] { require_sound(cluster::parse_host_list("--host", text)); });
  fuzz::may_refuse([&] { require_sound(cluster::parse_hostfile("hosts", text)); });
  fuzz::may_refuse([&] { require_sound(cluster::parse_node_file("hosts", text)); });
  fuzz::may_refuse([&] { require_sound(cluster::parse_queue_file("hosts", text)); });
  return 0;
}
