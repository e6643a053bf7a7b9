// What a rank is told when it joins.
#include "fuzz/fuzz.h"
#include "rendezvous/job.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota;
  const std::string text(fuzz::text_of(data, count));
  const auto job = rendezvous::decode_job(text);
  if (job) {
    const std::size_t world_size = job->table.rows.size();
    fuzz::require(world_size >= 1 && world_size <= rendezvous::kMaxWorldSize, "a world has limits");
    fuzz::require(job->rank < world_size, "its rank is of the world");
    const std::string again = rendezvous::encode(*job);
    const auto twice = rendezvous::decode_job(again);
    fuzz::require(twice && rendezvous::encode(*twice) == again, "what was decoded lasts");
    fuzz::require(rendezvous::lent_count(*job) <= world_size, "what is lent has a limit");
  }
  const std::string secretless = rendezvous::without_key(text);
  fuzz::require(secretless.size() == text.size(), "a key is put in the place of a key");
  return 0;
}
