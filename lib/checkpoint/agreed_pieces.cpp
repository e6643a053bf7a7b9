// Compares the pieces of each rank with those of rank 0.
#include "checkpoint/agreed_pieces.h"

#include <algorithm>
#include <exception>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <rota/error.h>

#include "base/hash.h"
#include "checkpoint/contents.h"
#include "checkpoint/exchange.h"

namespace rota::checkpoint {
namespace {

// Lists the shared pieces, without their values.
class PieceLister final : public StateVisitor {
 public:
  Manifest pieces;

  bool writes() const noexcept override { return false; }
  void visit_fact(const StatePiece& piece, const std::string&) override {
    if (is_shared(piece)) pieces.facts.push_back({piece.name, {}});
  }
  void visit_counter(const StatePiece& piece, std::uint64_t&) override {
    if (is_shared(piece)) pieces.counters.push_back({piece.name, 0});
  }
  void visit_tensor(const StatePiece& piece, std::span<const std::size_t> shape,
                    Values values) override {
    if (!is_shared(piece)) return;
    pieces.tensors.push_back({piece.name, values.type(), {shape.begin(), shape.end()}});
  }
};

// Returns a line for each piece, such as "counter session/step" or "model/weights [100] of float".
std::string lines_of_pieces(const Manifest& manifest) {
  std::string lines;
  for (const Fact& fact : manifest.facts) lines += "fact " + fact.name + "\n";
  for (const Counter& counter : manifest.counters) lines += "counter " + counter.name + "\n";
  for (const TensorInfo& tensor : manifest.tensors) {
    lines += tensor.name + " [";
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      lines += (i == 0 ? "" : ", ") + std::to_string(tensor.shape[i]);
    }
    lines += "] of " + std::string(to_string(tensor.type)) + "\n";
  }
  return lines;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Returns the first of the wanted lines that is not known, or an empty text.
std::string first_unknown(const std::vector<std::string>& wanted,
                          const std::vector<std::string>& known) {
  for (const std::string& line : wanted) {
    if (std::ranges::find(known, line) == known.end()) return line;
  }
  return {};
}

// Returns how `ours` differs from the lines of rank 0, in words that follow the name of this rank.
// Requires that they differ.
std::string difference_from(const std::string& rank_0s, const std::string& ours) {
  const std::vector<std::string> theirs = split_lines(rank_0s);
  const std::vector<std::string> mine = split_lines(ours);
  const std::string lacked = first_unknown(theirs, mine);
  const std::string added = first_unknown(mine, theirs);
  if (!lacked.empty() && !added.empty()) return "has " + added + ", and rank 0 has " + lacked;
  if (!lacked.empty()) return "lacks " + lacked + ", which rank 0 has";
  if (!added.empty()) return "has " + added + ", which rank 0 lacks";
  return "has the pieces of rank 0 in another order";
}

}  // namespace

std::uint64_t hash_of_pieces(const Manifest& manifest) {
  const std::string lines = lines_of_pieces(manifest);
  return base::fnv1a(std::as_bytes(std::span(lines)));
}

void require_equal_pieces(Communicator& communicator, const Writers& writers,
                          const StateVisit& visit) {
  if (communicator.world_size() == 1) return;
  PieceLister lister;
  std::exception_ptr failure;
  const std::string why = failure_of([&] {
    try {
      visit(lister);
    } catch (...) {
      failure = std::current_exception();
      throw;
    }
  });
  // The other ranks are told of a visit that failed: they would wait for this rank.
  const std::vector<std::string> failures = all_texts(communicator, why);
  if (failure) std::rethrow_exception(failure);
  for (std::size_t rank = 0; rank < failures.size(); ++rank) {
    if (failures[rank].empty()) continue;
    throw Error(ErrorCode::kInvalidArgument, writers.name_of(rank) + ": " + failures[rank], rank);
  }
  const std::string mine = lines_of_pieces(lister.pieces);
  const std::string theirs = text_of_rank_0(communicator, mine);
  const std::vector<std::string> differences =
      all_texts(communicator, mine == theirs ? "" : difference_from(theirs, mine));
  for (std::size_t rank = 0; rank < differences.size(); ++rank) {
    if (differences[rank].empty()) continue;
    throw Error(ErrorCode::kMismatch,
                "the state of " + writers.name_of(rank) + " " + differences[rank] +
                    ", so no checkpoint could be restored: " + kSamePieces,
                rank);
  }
}

}  // namespace rota::checkpoint
