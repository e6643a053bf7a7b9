// Fuzzes the job events that a launcher reports from its host. The first byte is the size of the
// world.
#include "fuzz/fuzz.h"
#include "launcher/ranks/job_event.h"
#include "rendezvous/job.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota;
  using Kind = launcher::JobEvent::Kind;
  if (count == 0) return 0;
  const std::size_t world_size = data[0];
  const std::string_view text = fuzz::text_of(data + 1, count - 1);
  const auto event = launcher::decode_job_event(text, world_size);
  if (!event) return 0;
  const bool is_of_rank = !launcher::is_of_evaluator(event->kind);
  fuzz::require(event->rank < (is_of_rank ? world_size : rendezvous::kMaxWorldSize),
                "it is of a rank of the world, or of an evaluator that there may be");
  fuzz::require(event->kind != Kind::kRankSpoke && event->kind <= Kind::kHostLost, "it may travel");
  fuzz::require(launcher::is_of_job(event->kind) == (event->world == 0),
                "it is of a world, or none");
  fuzz::require(launcher::encode(*event) == text, "there is one way to say it");
  return 0;
}
