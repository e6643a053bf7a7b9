// Sends the lengths of the texts first, and then the texts.
#include "checkpoint/exchange.h"

#include <cstdint>
#include <exception>
#include <map>
#include <new>
#include <span>
#include <string_view>

#include <rota/error.h>

namespace rota::checkpoint {

std::string text_of(base::ByteWriter& writer) {
  const std::vector<std::byte> bytes = writer.take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const std::bad_alloc&) {
    return "there is no memory for it";
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::vector<std::string> all_texts(Communicator& communicator, const std::string& mine) {
  const std::size_t world_size = communicator.world_size();
  std::vector<std::uint64_t> lengths(world_size);
  const std::uint64_t length = mine.size();
  communicator.all_gather(std::as_bytes(std::span(&length, 1)),
                          std::as_writable_bytes(std::span(lengths)));
  const std::vector<std::size_t> counts(lengths.begin(), lengths.end());
  std::size_t total = 0;
  for (const std::size_t count : counts) total += count;
  std::vector<std::byte> all(total);
  communicator.all_gather_v(std::as_bytes(std::span(mine)), all, counts);
  std::vector<std::string> texts;
  std::size_t begin = 0;
  for (const std::size_t count : counts) {
    texts.emplace_back(reinterpret_cast<const char*>(all.data()) + begin, count);
    begin += count;
  }
  return texts;
}

std::string text_of_rank_0(Communicator& communicator, const std::string& mine) {
  std::uint64_t length = mine.size();
  communicator.broadcast(std::as_writable_bytes(std::span(&length, 1)), 0);
  std::string text = communicator.rank() == 0 ? mine : std::string();
  text.resize(static_cast<std::size_t>(length));
  communicator.broadcast(std::as_writable_bytes(std::span(text)), 0);
  return text;
}

std::string other_texts(Communicator& communicator, const std::string& mine) {
  const std::vector<std::string> texts = all_texts(communicator, mine);
  if (communicator.rank() != 0) return {};
  std::map<std::string_view, std::vector<std::size_t>> ranks;
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    if (!texts[rank].empty() && texts[rank] != mine) ranks[texts[rank]].push_back(rank);
  }
  std::string all;
  for (const auto& [text, who] : ranks) {
    all += (all.empty() ? "rank " : "; rank ") + std::to_string(who.front());
    if (who.size() > 1) all += " (and " + std::to_string(who.size() - 1) + " more)";
    all += ": " + std::string(text);
  }
  return all;
}

}  // namespace rota::checkpoint
