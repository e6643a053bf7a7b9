// Fuzzes TF_CONFIG: any text, read by a launcher and by a program.
#include "cluster/reading.h"
#include "fuzz/fuzz.h"

namespace {

using namespace rota;

void read_as(cluster::Asker asker, const std::string& text) {
  const std::string entries[] = {"TF_CONFIG=" + text};
  cluster::Given given{.environment = cluster::Environment(entries), .host_name = "a"};
  given.asker = asker;
  fuzz::may_refuse([&] {
    const auto specification = cluster::from_tf_config(given);
    fuzz::require(specification.has_value(), "what is set says something");
    const cluster::Specification& read = *specification;
    const std::size_t count = cluster::ring_count(read);
    fuzz::require(count > 0 && read.hosts.size() <= cluster::kMaxRanks, "hosts have a limit");
    fuzz::require(read.own_host && *read.own_host < read.hosts.size(), "this is one of them");
    fuzz::require(cluster::make_table(read, 1).rows.size() == count, "a row for each");
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  const std::string text(fuzz::text_of(data, count));
  read_as(cluster::Asker::kLauncher, text);
  read_as(cluster::Asker::kProgram, text);
  return 0;
}
