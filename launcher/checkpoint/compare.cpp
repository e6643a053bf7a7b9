// Runs the command rota-checkpoint diff, which compares two checkpoints.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <rota/values.h>

#include "checkpoint/reader.h"
#include "formats/header_reader.h"
#include "launcher/checkpoint/commands.h"
#include "launcher/checkpoint/text.h"

namespace rota::launcher {
namespace {

using checkpoint::CheckpointReader;
using checkpoint::StoredRank;
using checkpoint::StoredTensor;
using formats::shown_name;

std::vector<std::byte> elements_of(const StoredTensor& tensor) {
  std::vector<std::byte> bytes(bytes_of(tensor.info));
  copy_elements(tensor, bytes);
  return bytes;
}

std::string shown_text(const checkpoint::Fact& fact) { return shown_name(fact.text); }
std::string shown_text(const checkpoint::Counter& counter) { return std::to_string(counter.value); }
std::string shown_text(const StoredTensor& tensor) {
  return std::string(to_string(tensor.info.type)) + " " + shape_text(tensor.info.shape);
}

const std::string& name_of(const StoredTensor& tensor) { return tensor.info.name; }
template <class Entry>
const std::string& name_of(const Entry& entry) {
  return entry.name;
}

template <class Entry>
std::string difference_of(const Entry& one, const Entry& other) {
  return one == other ? "" : shown_text(one) + " | " + shown_text(other);
}

std::string difference_of(const StoredTensor& one, const StoredTensor& other) {
  if (one.info != other.info) return shown_text(one) + " | " + shown_text(other);
  const std::vector<std::byte> ours = elements_of(one);
  const std::vector<std::byte> theirs = elements_of(other);
  const std::size_t width = rota::bytes_of(one.info.type);
  std::size_t count = 0;
  std::size_t first = 0;
  for (std::size_t at = 0; at < ours.size(); at += width) {
    const auto* begin = ours.data() + at;
    if (std::equal(begin, begin + width, theirs.data() + at)) continue;
    if (count++ == 0) first = at / width;
  }
  if (count == 0) return "";
  return std::to_string(count) + " of " + std::to_string(ours.size() / width) +
         " elements differ, the first is element " + std::to_string(first);
}

// Returns a line for each entry that differs, or that only one side has.
template <class Entries>
std::string compare_entries(const std::string& kind, const Entries& one, const Entries& other) {
  std::map<std::string_view, const typename Entries::value_type*> theirs;
  for (const auto& entry : other) theirs.emplace(name_of(entry), &entry);
  std::string text;
  const auto line = [&](const std::string& name, const std::string& difference) {
    if (!difference.empty()) text += kind + " " + shown_name(name) + ": " + difference + "\n";
  };
  for (const auto& entry : one) {
    const auto found = theirs.find(name_of(entry));
    line(name_of(entry), found == theirs.end() ? shown_text(entry) + " | nothing"
                                               : difference_of(entry, *found->second));
    if (found != theirs.end()) theirs.erase(found);
  }
  for (const auto& entry : other) {
    if (theirs.contains(name_of(entry))) line(name_of(entry), "nothing | " + shown_text(entry));
  }
  return text;
}

std::string compare_ranks(const CheckpointReader& one, const CheckpointReader& other) {
  static const StoredRank kNothing;
  std::set<std::size_t> ranks;
  for (const auto& [rank, own] : one.ranks()) ranks.insert(rank);
  for (const auto& [rank, own] : other.ranks()) ranks.insert(rank);
  std::string text;
  for (const std::size_t rank : ranks) {
    const auto of = [&](const CheckpointReader& side) -> const StoredRank& {
      const auto found = side.ranks().find(rank);
      return found == side.ranks().end() ? kNothing : found->second;
    };
    const std::string kind = "rank " + std::to_string(rank) + ": ";
    text += compare_entries(kind + "fact", of(one).facts, of(other).facts) +
            compare_entries(kind + "counter", of(one).counters, of(other).counters) +
            compare_entries(kind + "tensor", of(one).tensors, of(other).tensors);
  }
  return text;
}

}  // namespace

Answer compare_checkpoints(const std::string& one, const std::string& other) {
  const CheckpointReader ours(one);
  const CheckpointReader theirs(other);
  const auto& left = ours.manifest();
  const auto& right = theirs.manifest();
  const std::vector<StoredTensor> our_tensors(ours.tensors().begin(), ours.tensors().end());
  const std::vector<StoredTensor> their_tensors(theirs.tensors().begin(), theirs.tensors().end());
  Answer answer;
  if (left.step != right.step) {
    answer.text = "step: " + std::to_string(left.step) + " | " + std::to_string(right.step) + "\n";
  }
  answer.text += compare_entries("fact", left.facts, right.facts) +
                 compare_entries("counter", left.counters, right.counters) +
                 compare_entries("tensor", our_tensors, their_tensors) +
                 compare_ranks(ours, theirs);
  answer.code = answer.text.empty() ? kExitFine : kExitDiffers;
  return answer;
}

}  // namespace rota::launcher
