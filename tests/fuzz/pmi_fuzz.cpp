// Fuzzes the server's side of PMI-1. Each byte below 3 passes the turn to one of three ranks; the
// other bytes are what the rank writes.
#include <set>

#include "fuzz/fuzz.h"
#include "launcher/mpi/pmi/pmi_engine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota::launcher;
  using rota::fuzz::require;
  const MpiPlan plan{.kind = MpiKind::kPmi, .name = "rota-1", .world = {{0, 0}, {1, 0}, {2, 0}}};
  const HostAssignment assignment{.ranks = {0, 1, 2}, .groups = {0, 0, 0}, .world_size = 3};
  PmiEngine engine(plan, assignment);
  std::size_t rank = 0;
  std::set<std::size_t> failed;
  for (const char c : rota::fuzz::text_of(data, count)) {
    if (c >= 0 && c < 3) {
      rank = static_cast<std::size_t>(c);
      continue;
    }
    engine.on_bytes(rank, {&c, 1});
    for (const MpiEvent& event : engine.take_events()) {
      require(!failed.contains(event.local_rank), "a rank that has failed says no more");
      if (event.kind == MpiEvent::Kind::kAborted) failed.insert(event.local_rank);
      require(event.text.find('\n') == std::string::npos, "a complaint is one line");
      if (event.kind != MpiEvent::Kind::kFenced) continue;
      require(event.share.arrived.size() == 3, "a barrier has all ranks");
      engine.end_fence({.key = event.share.key, .data = event.share.data});
    }
    for (const PmiEngine::Answer& answer : engine.take_answers()) {
      require(!failed.contains(answer.local_rank), "a rank that has failed hears no more");
      require(answer.bytes.starts_with("cmd=") && answer.bytes.ends_with('\n') &&
                  answer.bytes.find('\n') + 1 == answer.bytes.size(),
              "an answer is one line");
    }
  }
  return 0;
}
