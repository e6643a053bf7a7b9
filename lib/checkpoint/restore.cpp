// Visitors that compare a training run with a checkpoint, and write the checkpoint to it.
#include "checkpoint/restore.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <vector>

#include <rota/error.h>

#include "checkpoint/contents.h"
#include "checkpoint/file_names.h"

namespace rota::checkpoint {
namespace {

std::string shown(const TensorInfo& tensor) {
  std::string shape;
  for (const std::size_t side : tensor.shape) {
    shape += (shape.empty() ? "" : ", ") + std::to_string(side);
  }
  return tensor.name + " [" + shape + "] of " + std::string(to_string(tensor.type));
}

// The shared pieces of a checkpoint by name.
struct Shared {
  std::map<std::string_view, const Fact*> facts;
  std::map<std::string_view, const Counter*> counters;
  std::map<std::string_view, const StoredTensor*> tensors;

  explicit Shared(const CheckpointReader& checkpoint) {
    for (const Fact& fact : checkpoint.manifest().facts) facts[fact.name] = &fact;
    for (const Counter& counter : checkpoint.manifest().counters) {
      counters[counter.name] = &counter;
    }
    for (const StoredTensor& tensor : checkpoint.tensors()) tensors[tensor.info.name] = &tensor;
  }
};

template <class Map>
auto find(const Map& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : found->second;
}

// Compares the shared pieces, up to the first that does not fit.
class Fitter final : public StateVisitor {
 public:
  explicit Fitter(const CheckpointReader& checkpoint) : shared_(checkpoint) {}

  std::string why;          // Empty: everything fits.
  std::string differences;  // Of facts that may differ.

  // Requires that everything was visited.
  void require_nothing_left() {
    for (const auto& [name, tensor] : shared_.tensors) {
      if (!visited_.contains(name)) refuse(shown(tensor->info), "nothing of this name");
    }
  }

  bool writes() const noexcept override { return false; }
  void visit_fact(const StatePiece& piece, const std::string& value) override {
    if (!is_shared(piece)) return;
    const Fact* saved = find(shared_.facts, piece.name);
    const std::string theirs = saved == nullptr ? "no such entry" : saved->text;
    if (theirs == value) return;
    if (piece.fit == StateFit::kLoose) {
      differences +=
          (differences.empty() ? "" : "; ") + piece.name + " was " + theirs + " and is " + value;
    } else {
      refuse(piece.name + " " + theirs, piece.name + " " + value);
    }
  }
  void visit_counter(const StatePiece& piece, std::uint64_t&) override {
    if (!is_shared(piece) || piece.fit == StateFit::kLoose) return;
    if (find(shared_.counters, piece.name) == nullptr) {
      refuse("no counter " + piece.name, "it");
    }
  }
  void visit_tensor(const StatePiece& piece, std::span<const std::size_t> shape,
                    Values values) override {
    if (!is_shared(piece)) return;
    visited_.insert(piece.name);
    const TensorInfo ours{piece.name, values.type(), {shape.begin(), shape.end()}};
    const StoredTensor* saved = find(shared_.tensors, piece.name);
    if (saved == nullptr && piece.fit == StateFit::kLoose) return;
    if (saved == nullptr) {
      refuse("nothing of this name", shown(ours));
    } else if (saved->info != ours) {
      refuse(shown(saved->info), shown(ours));
    }
  }

 private:
  void refuse(const std::string& theirs, const std::string& ours) {
    if (why.empty()) why = "it has " + theirs + ", but this training run has " + ours;
  }

  Shared shared_;
  std::set<std::string, std::less<>> visited_;
};

void add(const StoredTensor& tensor, Values values) {
  std::vector<float> addend(values.count());
  copy_elements(tensor, std::as_writable_bytes(std::span(addend)));
  const std::span<float> sum(reinterpret_cast<float*>(values.data()), values.count());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += addend[i];
}

std::span<std::byte> memory_of(Values values) { return {values.data(), values.bytes()}; }

class Writer final : public StateVisitor {
 public:
  Writer(const CheckpointReader& checkpoint, const RestoredBy& by)
      : shared_(checkpoint), is_same_world_(checkpoint.manifest().world_size == by.world_size) {
    for (const auto& [rank, stored] : checkpoint.ranks()) {
      if (restoring_rank(rank, by.world_size) == by.rank) mine_.push_back(&stored);
    }
  }

  bool has_lost_feedback() const noexcept { return has_lost_feedback_; }

  void visit_fact(const StatePiece&, const std::string&) override {}
  void visit_counter(const StatePiece& piece, std::uint64_t& value) override {
    if (is_shared(piece)) {
      if (const Counter* saved = find(shared_.counters, piece.name)) value = saved->value;
      return;
    }
    for (const StoredRank* rank : mine_) {
      const auto saved = std::ranges::find(rank->counters, piece.name, &Counter::name);
      if (saved == rank->counters.end()) continue;
      value = saved->value;
      return;
    }
  }
  void visit_tensor(const StatePiece& piece, std::span<const std::size_t>, Values values) override {
    if (is_shared(piece)) {
      if (const auto* saved = find(shared_.tensors, piece.name)) {
        copy_elements(*saved, memory_of(values));
      }
      return;
    }
    // The feedback of an earlier run in this process must not remain.
    if (piece.fit == StateFit::kSummed) std::ranges::fill(memory_of(values), std::byte{0});
    for (const StoredRank* rank : mine_) {
      const StoredTensor* saved = own_tensor(*rank, piece, values);
      if (saved == nullptr) {
        has_lost_feedback_ |= piece.fit == StateFit::kSummed;
        continue;
      }
      if (piece.fit == StateFit::kSummed && !is_same_world_) {
        add(*saved, values);
      } else {
        copy_elements(*saved, memory_of(values));  // Not a sum: the sign of a zero stays.
        return;
      }
    }
  }

 private:
  static const StoredTensor* own_tensor(const StoredRank& rank, const StatePiece& piece,
                                        Values values) {
    for (const StoredTensor& tensor : rank.tensors) {
      const bool fits = tensor.info.name == piece.name && tensor.info.type == values.type() &&
                        bytes_of(tensor.info) == values.bytes();
      if (fits) return &tensor;
    }
    return nullptr;
  }

  Shared shared_;
  bool is_same_world_;
  std::vector<const StoredRank*> mine_;  // The ranks that saved whose pieces this rank gets.
  bool has_lost_feedback_ = false;       // The buckets differ.
};

// Writes, or only compares, the tensors of the model.
class ParameterVisitor final : public StateVisitor {
 public:
  ParameterVisitor(const CheckpointReader& checkpoint, bool writes)
      : path_(checkpoint.path()), shared_(checkpoint), writes_(writes) {}

  void visit_fact(const StatePiece&, const std::string&) override {}
  void visit_counter(const StatePiece&, std::uint64_t&) override {}
  void visit_tensor(const StatePiece& piece, std::span<const std::size_t> shape,
                    Values values) override {
    if (kind_of_shared(piece.name) != FileKind::kParameters || !is_shared(piece)) return;
    const TensorInfo ours{piece.name, values.type(), {shape.begin(), shape.end()}};
    const StoredTensor* saved = find(shared_.tensors, piece.name);
    if (saved == nullptr || saved->info != ours) {
      throw Error(ErrorCode::kMismatch,
                  path_ + " has " + (saved == nullptr ? "no " + piece.name : shown(saved->info)) +
                      ", but this model has " + shown(ours));
    }
    if (writes_) {
      copy_elements(*saved, memory_of(values));
    }
  }

 private:
  std::string path_;
  Shared shared_;
  bool writes_;
};

}  // namespace

std::string why_not_restored(const CheckpointReader& checkpoint, const StateVisit& visit) {
  Fitter fitter(checkpoint);
  visit(fitter);
  fitter.require_nothing_left();
  return fitter.why;
}

std::string restore(const CheckpointReader& checkpoint, const StateVisit& visit,
                    const RestoredBy& by) {
  Fitter fitter(checkpoint);
  visit(fitter);
  Writer writer(checkpoint, by);
  visit(writer);
  if (!writer.has_lost_feedback()) return fitter.differences;
  return fitter.differences + (fitter.differences.empty() ? "" : "; ") +
         "what the codec had lost is left out, as the buckets differ";
}

void restore_parameters(const CheckpointReader& checkpoint, const StateVisit& visit) {
  ParameterVisitor comparer(checkpoint, false);
  visit(comparer);
  ParameterVisitor writer(checkpoint, true);
  visit(writer);
}

}  // namespace rota::checkpoint
