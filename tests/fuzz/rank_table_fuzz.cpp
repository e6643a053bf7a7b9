// Fuzzes the rank table that all ranks of a job read.
#include "fuzz/fuzz.h"
#include "rendezvous/job.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota;
  const std::string text(fuzz::text_of(data, count));
  const auto places = rendezvous::decode_table(text);
  if (!places) return 0;
  const std::size_t world_size = places->table.rows.size();
  fuzz::require(world_size >= 1 && world_size <= rendezvous::kMaxWorldSize, "a world has limits");
  const std::string again = rendezvous::encode_table(places->table, places->domains);
  fuzz::require(again == text, "what was decoded is encoded to the same");
  rendezvous::Job job;
  job.rank = world_size - 1;
  fuzz::require(rendezvous::add_table(text, job), "its last rank has a row");
  fuzz::require(rendezvous::descriptor_count(job) <= world_size,
                "the number of descriptors has a limit");
  job.rank = world_size;
  fuzz::require(!rendezvous::add_table(text, job), "a rank beyond it has none");
  return 0;
}
