// Encodes and decodes the messages between rotarun and its PMIx server: their fields, one after the
// other.
#include "launcher/pmix/wire/pmix_message.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "base/byte_stream.h"

namespace rota::launcher {
namespace {

bool is_complete(const base::ByteReader& in) { return in.ok() && in.at_end(); }

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-';
}

// Returns whether the nodes have each rank of a world once, and each node a name of its own.
bool are_sound(const std::vector<PmixNode>& nodes) {
  std::set<std::string> names;
  std::set<std::uint32_t> ranks;
  std::size_t count = 0;
  for (const PmixNode& node : nodes) {
    names.insert(node.name);
    ranks.insert(node.ranks.begin(), node.ranks.end());
    count += node.ranks.size();
    const bool has_name = !node.name.empty() && std::ranges::all_of(node.name, is_plain);
    if (!has_name || node.ranks.empty()) return false;
  }
  return names.size() == nodes.size() && ranks.size() == count && *ranks.rbegin() == count - 1;
}

}  // namespace

std::vector<std::byte> encode(const PmixMessage& message) {
  base::ByteWriter out;
  out.write(static_cast<std::uint8_t>(message.type));
  out.write(message.rank);
  out.write(static_cast<std::uint32_t>(message.value));
  out.write(message.text);
  return out.take();
}

std::optional<PmixMessage> decode_pmix_message(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  const auto type = in.read<std::uint8_t>();
  PmixMessage message{.type = static_cast<PmixMessageType>(type)};
  message.rank = in.read<std::uint32_t>();
  message.value = static_cast<int>(in.read<std::uint32_t>());
  message.text = in.read_text();
  const bool is_known = type >= static_cast<std::uint8_t>(PmixMessageType::kJob) &&
                        type <= static_cast<std::uint8_t>(PmixMessageType::kLost);
  if (!is_complete(in) || !is_known) return std::nullopt;
  return message;
}

std::string encode(const PmixJob& job) {
  base::ByteWriter out;
  out.write(job.name);
  out.write(static_cast<std::uint32_t>(job.nodes.size()));
  for (const PmixNode& node : job.nodes) {
    out.write(node.name);
    out.write(node.ranks);
  }
  out.write(job.own_node);
  out.write(job.programs);
  out.write(job.folder);
  out.write(job.memory_folder);
  out.write(job.user);
  out.write(job.group);
  return out.take_text();
}

std::optional<PmixJob> decode_pmix_job(std::string_view text) {
  base::ByteReader in(base::bytes_of(text));
  PmixJob job{.name = in.read_text()};
  const auto count = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    PmixNode node{.name = in.read_text()};
    node.ranks = in.read_numbers();
    job.nodes.push_back(std::move(node));
  }
  job.own_node = in.read<std::uint32_t>();
  job.programs = in.read_numbers();
  job.folder = in.read_text();
  job.memory_folder = in.read_text();
  job.user = in.read<std::uint32_t>();
  job.group = in.read<std::uint32_t>();
  const bool has_name = !job.name.empty() && job.name.size() <= kMaxPmixNameLength &&
                        std::ranges::all_of(job.name, is_plain);
  if (!is_complete(in) || !has_name || job.own_node >= job.nodes.size()) return std::nullopt;
  if (!are_sound(job.nodes)) return std::nullopt;
  if (job.programs.size() != job.nodes[job.own_node].ranks.size()) return std::nullopt;
  return job;
}

std::string encode(const PmixFence& fence) {
  base::ByteWriter out;
  out.write(fence.ranks);
  out.write(fence.number);
  out.write(fence.data);
  return out.take_text();
}

std::optional<PmixFence> decode_pmix_fence(std::string_view text) {
  base::ByteReader in(base::bytes_of(text));
  PmixFence fence{.ranks = in.read_numbers()};
  fence.number = in.read<std::uint32_t>();
  fence.data = in.read_text();
  const bool is_ascending =
      std::ranges::adjacent_find(fence.ranks, std::greater_equal()) == fence.ranks.end();
  if (!is_complete(in) || !is_ascending) return std::nullopt;
  return fence;
}

std::string encode_variables(const std::vector<std::string>& variables) {
  base::ByteWriter out;
  out.write(static_cast<std::uint32_t>(variables.size()));
  for (const std::string& variable : variables) out.write(variable);
  return out.take_text();
}

std::optional<std::vector<std::string>> decode_variables(std::string_view text) {
  base::ByteReader in(base::bytes_of(text));
  std::vector<std::string> variables;
  const auto count = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    variables.push_back(in.read_text());
    const std::size_t equals = variables.back().find('=');
    if (equals == std::string::npos || equals == 0) return std::nullopt;
  }
  if (!is_complete(in)) return std::nullopt;
  return variables;
}

}  // namespace rota::launcher
