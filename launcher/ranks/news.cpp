// News as bytes.
#include "launcher/ranks/news.h"

#include "base/byte_stream.h"
#include "rendezvous/job.h"

namespace rota::launcher {
namespace {

bool travels(News::Kind kind) {
  return kind <= News::Kind::kHostLost && kind != News::Kind::kRankSpoke;
}

}  // namespace

bool is_of_evaluator(News::Kind kind) noexcept {
  return kind == News::Kind::kEvaluatorStarted || kind == News::Kind::kEvaluatorExited ||
         kind == News::Kind::kEvaluatorKilled;
}

bool is_of_job(News::Kind kind) noexcept {
  return kind == News::Kind::kSignal || kind == News::Kind::kHostEnded ||
         kind == News::Kind::kHostLost || kind == News::Kind::kRankWrote ||
         kind == News::Kind::kEvaluatorWrote;
}

bool is_late(const News& news, std::uint32_t world) noexcept {
  return !is_of_job(news.kind) && news.world != world;
}

std::string encode(const News& news) {
  base::ByteWriter out;
  out.write(static_cast<std::uint8_t>(news.kind));
  out.write(news.world);
  out.write(static_cast<std::uint32_t>(news.rank));
  out.write(static_cast<std::uint32_t>(news.value));
  out.write(news.text);
  out.write(static_cast<std::uint32_t>(news.last_words.size()));
  for (const std::string& line : news.last_words) out.write(line);
  const auto bytes = out.take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<News> decode_news(std::string_view bytes, std::size_t limit) {
  base::ByteReader in(std::as_bytes(std::span(bytes)));
  News news;
  news.kind = static_cast<News::Kind>(in.read<std::uint8_t>());
  news.world = in.read<std::uint32_t>();
  news.rank = in.read<std::uint32_t>();
  news.value = static_cast<int>(in.read<std::uint32_t>());
  news.text = in.read_text();
  const auto line_count = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < line_count && in.ok(); ++i) {
    news.last_words.push_back(in.read_text());
  }
  if (is_of_evaluator(news.kind)) limit = rendezvous::kMaxWorldSize;
  const bool has_right_world = is_of_job(news.kind) == (news.world == 0);
  if (!in.ok() || !in.at_end() || !travels(news.kind) || news.rank >= limit) return {};
  if (!has_right_world) return {};
  return news;
}

}  // namespace rota::launcher
