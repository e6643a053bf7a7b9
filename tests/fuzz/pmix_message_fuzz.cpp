// Fuzzes the messages between rotarun and its PMIx server, and their contents. The data of a fence
// come from the ranks, which may be any program.
#include <algorithm>
#include <span>

#include "fuzz/fuzz.h"
#include "launcher/pmix/wire/pmix_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota;
  const std::string_view text = fuzz::text_of(data, count);
  const auto bytes = std::as_bytes(std::span(text));
  if (const auto message = launcher::decode_pmix_message(bytes)) {
    fuzz::require(std::ranges::equal(launcher::encode(*message), bytes),
                  "there is one way to say a message");
  }
  if (const auto fence = launcher::decode_pmix_fence(text)) {
    fuzz::require(launcher::encode(*fence) == text, "there is one way to say a fence");
  }
  if (const auto variables = launcher::decode_variables(text)) {
    fuzz::require(launcher::encode_variables(*variables) == text,
                  "there is one way to say variables");
  }
  if (const auto job = launcher::decode_pmix_job(text)) {
    fuzz::require(launcher::encode(*job) == text, "there is one way to say a job");
    std::size_t rank_count = 0;
    for (const auto& node : job->nodes) rank_count += node.ranks.size();
    fuzz::require(rank_count > 0 && job->own_node < job->nodes.size(), "each host has ranks");
  }
  return 0;
}
