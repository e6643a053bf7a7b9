// Fuzzes the description of the job, which a rank gets when it joins. The rank table is not part of
// this message.
#include "fuzz/fuzz.h"
#include "rendezvous/job.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota;
  const std::string text(fuzz::text_of(data, count));
  const auto terms = rendezvous::decode_job(text);
  if (terms) {
    fuzz::require(terms->table.bytes <= rendezvous::kMaxTableBytes, "a table has limits");
    const std::string again = rendezvous::encode(terms->job, terms->table);
    const auto twice = rendezvous::decode_job(again);
    fuzz::require(twice && rendezvous::encode(twice->job, twice->table) == again,
                  "what was decoded lasts");
  }
  const std::string secretless = rendezvous::without_key(text);
  fuzz::require(secretless.size() == text.size(), "a key is put in the place of a key");
  return 0;
}
