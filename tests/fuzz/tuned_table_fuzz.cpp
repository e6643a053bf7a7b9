// Fuzzes tuned files, which rota-bench tune writes and people may change.
#include "communicator/tuned_table.h"
#include "fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota;
  fuzz::may_refuse([&] {
    const TunedTable table = parse_tuned("file", fuzz::text_of(data, count));
    fuzz::require(!table.all_reduce.empty(), "there is a plan");
    fuzz::require(table.all_reduce.front().from_bytes == 0, "for every size");
    for (std::size_t rank = 0; rank < table.topology.hosts.size(); ++rank) {
      const std::size_t first = table.topology.hosts[rank];
      fuzz::require(first <= rank && table.topology.hosts[first] == first,
                    "hosts have first ranks");
    }
    for (const TunedTable::Row& row : table.all_reduce) {
      fuzz::require(tuned_all_reduce(table, row.from_bytes) == row.algorithm, "rows are found");
    }
    fuzz::require(parse_tuned("file", to_text(table)) == table, "what was read lasts");
  });
  return 0;
}
