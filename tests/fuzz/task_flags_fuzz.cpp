// Fuzzes the flags of old TensorFlow tutorials (--worker_hosts, …), one argument per line.
#include "cluster/host_names.h"
#include "cluster/sources.h"
#include "cluster/sources/task_flags.h"
#include "fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota;
  cluster::Given given{.host_name = "a"};
  for (const auto line : cluster::split(fuzz::text_of(data, count), '\n')) {
    given.arguments.emplace_back(line);
  }
  fuzz::may_refuse([&] {
    const cluster::TaskFlags flags = cluster::parse_task_flags(given.arguments);
    fuzz::require(flags.rest.size() <= given.arguments.size(), "nothing is added");
    fuzz::require(flags.values.size() <= 4, "there are four flags");
    const auto read = cluster::from_task_flags(given);
    fuzz::require(!read || *read->own_host < read->hosts.size(), "this is one of them");
  });
  return 0;
}
