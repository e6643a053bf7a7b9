// Encodes and decodes job events. They inform the leader how ranks end on other hosts.
#include "launcher/ranks/job_event.h"

#include "base/byte_stream.h"
#include "rendezvous/job.h"

namespace rota::launcher {
namespace {

bool travels(JobEvent::Kind kind) {
  return kind <= JobEvent::Kind::kHostLost && kind != JobEvent::Kind::kRankSpoke;
}

}  // namespace

bool is_of_evaluator(JobEvent::Kind kind) noexcept {
  return kind == JobEvent::Kind::kEvaluatorStarted || kind == JobEvent::Kind::kEvaluatorExited ||
         kind == JobEvent::Kind::kEvaluatorKilled;
}

bool is_of_job(JobEvent::Kind kind) noexcept {
  return kind == JobEvent::Kind::kSignal || kind == JobEvent::Kind::kHostEnded ||
         kind == JobEvent::Kind::kHostLost || kind == JobEvent::Kind::kRankWrote ||
         kind == JobEvent::Kind::kEvaluatorWrote;
}

bool is_late(const JobEvent& event, std::uint32_t world) noexcept {
  return !is_of_job(event.kind) && event.world != world;
}

std::string encode(const JobEvent& event) {
  base::ByteWriter out;
  out.write(static_cast<std::uint8_t>(event.kind));
  out.write(event.world);
  out.write(static_cast<std::uint32_t>(event.rank));
  out.write(static_cast<std::uint32_t>(event.value));
  out.write(event.text);
  out.write(static_cast<std::uint32_t>(event.last_words.size()));
  for (const std::string& line : event.last_words) out.write(line);
  return out.take_text();
}

std::optional<JobEvent> decode_job_event(std::string_view bytes, std::size_t limit) {
  base::ByteReader in(std::as_bytes(std::span(bytes)));
  JobEvent event;
  event.kind = static_cast<JobEvent::Kind>(in.read<std::uint8_t>());
  event.world = in.read<std::uint32_t>();
  event.rank = in.read<std::uint32_t>();
  event.value = static_cast<int>(in.read<std::uint32_t>());
  event.text = in.read_text();
  const auto line_count = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < line_count && in.ok(); ++i) {
    event.last_words.push_back(in.read_text());
  }
  if (is_of_evaluator(event.kind)) limit = rendezvous::kMaxWorldSize;
  const bool has_right_world = is_of_job(event.kind) == (event.world == 0);
  if (!in.ok() || !in.at_end() || !travels(event.kind) || event.rank >= limit) return {};
  if (!has_right_world) return {};
  return event;
}

}  // namespace rota::launcher
