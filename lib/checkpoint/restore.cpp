// Visitors that compare a training run with a checkpoint, and write the checkpoint to it.
#include "checkpoint/restore.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "checkpoint/contents.h"
#include "checkpoint/file_names.h"
#include "checkpoint/metadata.h"

namespace rota::checkpoint {
namespace {

using Names = std::set<std::string, std::less<>>;

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

  // Requires that all tensors of the model and of its optimizer were visited. Other tensors may be
  // those of a hook that this training run does not have.
  void require_no_parameter_left() {
    for (const auto& [name, tensor] : shared_.tensors) {
      const bool counts = name.starts_with("model/") || name.starts_with("optimizer/");
      if (counts && !visited_.contains(name)) refuse(shown(tensor->info), "nothing of this name");
    }
  }

  bool writes() const noexcept override { return false; }
  void visit_fact(const StatePiece& piece, const std::string& value) override {
    if (!is_shared(piece)) return;
    const Fact* saved = find(shared_.facts, piece.name);
    const bool is_noted = piece.fit == StateFit::kNoted;
    if (saved == nullptr && (is_noted || piece.fit == StateFit::kIfThere)) return;
    const std::string theirs = saved == nullptr ? "no such entry" : saved->text;
    if (theirs == value) return;
    if (is_noted || piece.fit == StateFit::kLoose) {
      differences +=
          (differences.empty() ? "" : "; ") + piece.name + " was " + theirs + " and is " + value;
    } else {
      refuse(piece.name + " " + theirs, piece.name + " " + value);
    }
  }
  void visit_counter(const StatePiece& piece, std::uint64_t&) override {
    if (!is_shared(piece) || may_be_missing(piece)) return;
    if (find(shared_.counters, piece.name) == nullptr) {
      refuse("no counter " + piece.name, "it");
    }
  }
  void visit_tensor(const StatePiece& piece, std::span<const std::size_t> shape,
                    Values values) override {
    require_host_memory(piece.name, values);
    if (!is_shared(piece)) return;
    visited_.insert(piece.name);
    const TensorInfo ours{piece.name, values.type(), {shape.begin(), shape.end()}};
    const StoredTensor* saved = find(shared_.tensors, piece.name);
    if (saved == nullptr && may_be_missing(piece)) return;
    if (saved == nullptr) {
      refuse("nothing of this name", shown(ours));
    } else if (saved->info != ours) {
      refuse(shown(saved->info), shown(ours));
    }
  }

 private:
  // Returns whether the checkpoint may lack this counter or tensor.
  static bool may_be_missing(const StatePiece& piece) {
    return piece.fit == StateFit::kLoose || piece.fit == StateFit::kIfThere;
  }

  void refuse(const std::string& theirs, const std::string& ours) {
    if (why.empty()) why = "it has " + theirs + ", but this training run has " + ours;
  }

  Shared shared_;
  Names visited_;
};

void add(const StoredTensor& tensor, Values values) {
  std::vector<float> addend(values.count());
  copy_elements(tensor, std::as_writable_bytes(std::span(addend)));
  const std::span<float> sum(reinterpret_cast<float*>(values.data()), values.count());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += addend[i];
}

bool has_elements(const StoredTensor& tensor, std::span<const std::byte> elements) {
  for (const StoredRows& part : tensor.parts) {
    if (!std::ranges::equal(part.bytes, elements.first(part.bytes.size()))) return false;
    elements = elements.subspan(part.bytes.size());
  }
  return true;
}

std::span<std::byte> memory_of(Values values) { return {values.data(), values.bytes()}; }

// Returns the first names, and how many more there are.
std::string listed(const Names& names) {
  constexpr std::size_t kMost = 4;
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (count++ < kMost) text += (text.empty() ? "" : ", ") + name;
  }
  return text + (count > kMost ? " and " + std::to_string(count - kMost) + " more" : "");
}

class Writer final : public StateVisitor {
 public:
  Writer(const CheckpointReader& checkpoint, const RestoredBy& by)
      : shared_(checkpoint), is_same_world_(checkpoint.manifest().world_size == by.world_size) {
    for (const auto& [rank, stored] : checkpoint.ranks()) {
      if (restoring_rank(rank, by.world_size) == by.rank) mine_.push_back(&stored);
    }
  }

  // Returns what the run does not get from the checkpoint, for people; empty if it gets all.
  std::string losses() const {
    std::string text;
    const auto add = [&](const std::string& loss) { text += (text.empty() ? "" : "; ") + loss; };
    if (!anew_.empty()) add("the checkpoint lacks " + listed(anew_) + ", so this begins anew");
    const Names left = names_left();
    if (!left.empty()) add("this training run has no " + listed(left) + ", so this is left out");
    if (!misfits_.empty()) add("this has another shape, so it is left out: " + listed(misfits_));
    if (!dropped_.empty()) {
      add("of " + listed(dropped_) +
          ", the values of one saved rank are taken, and those of other ranks are left out");
    }
    return text;
  }

  void visit_fact(const StatePiece& piece, const std::string&) override {
    visited_.insert(piece.name);
    if (is_shared(piece) && find(shared_.facts, piece.name) == nullptr) begin_anew(piece);
  }
  void visit_counter(const StatePiece& piece, std::uint64_t& value) override {
    visited_.insert(piece.name);
    if (is_shared(piece)) {
      const Counter* saved = find(shared_.counters, piece.name);
      if (saved == nullptr) return begin_anew(piece);
      value = saved->value;
      return;
    }
    bool is_there = false;
    for (const StoredRank* rank : mine_) {
      const auto saved = std::ranges::find(rank->counters, piece.name, &Counter::name);
      if (saved == rank->counters.end()) continue;
      if (!std::exchange(is_there, true)) value = saved->value;
      if (saved->value != value) drop(piece);
    }
    if (!is_there) begin_anew(piece);
  }
  void visit_tensor(const StatePiece& piece, std::span<const std::size_t>, Values values) override {
    require_host_memory(piece.name, values);
    visited_.insert(piece.name);
    if (is_shared(piece)) {
      const StoredTensor* saved = find(shared_.tensors, piece.name);
      if (saved == nullptr) return begin_anew(piece);
      copy_elements(*saved, memory_of(values));
      return;
    }
    // The feedback of an earlier run in this process must not remain. If no rank has saved a
    // feedback of these values, no codec had lost anything of them.
    if (piece.fit == StateFit::kSummed) std::ranges::fill(memory_of(values), std::byte{0});
    bool is_there = false;
    for (const StoredRank* rank : mine_) {
      const StoredTensor* saved = own_tensor(*rank, piece.name);
      if (saved == nullptr) continue;
      if (!fits(*saved, values)) {
        misfits_.insert(piece.name);
      } else if (piece.fit == StateFit::kSummed && !is_same_world_) {
        add(*saved, values);
      } else if (!std::exchange(is_there, true)) {
        copy_elements(*saved, memory_of(values));  // Not a sum: the sign of a zero stays.
      } else if (!has_elements(*saved, memory_of(values))) {
        drop(piece);
      }
    }
    if (!is_there && !misfits_.contains(piece.name)) begin_anew(piece);
  }

 private:
  void begin_anew(const StatePiece& piece) {
    if (is_missed(piece)) anew_.insert(piece.name);
  }
  void drop(const StatePiece& piece) {
    if (is_missed(piece)) dropped_.insert(piece.name);
  }
  static bool is_missed(const StatePiece& piece) {
    return piece.fit == StateFit::kIfThere || piece.fit == StateFit::kStrict;
  }

  // Returns the pieces of the checkpoint that were not visited: all shared ones, and the counters
  // and tensors of the saved ranks whose pieces this rank gets.
  Names names_left() const {
    Names left;
    const auto add = [&](std::string_view name) {
      if (!visited_.contains(name)) left.emplace(name);
    };
    for (const auto& [name, fact] : shared_.facts) add(name);
    for (const auto& [name, counter] : shared_.counters) add(name);
    for (const auto& [name, tensor] : shared_.tensors) add(name);
    for (const StoredRank* rank : mine_) {
      for (const Counter& counter : rank->counters) add(counter.name);
      for (const StoredTensor& tensor : rank->tensors) add(tensor.info.name);
    }
    return left;
  }

  static const StoredTensor* own_tensor(const StoredRank& rank, const std::string& name) {
    for (const StoredTensor& tensor : rank.tensors) {
      if (tensor.info.name == name) return &tensor;
    }
    return nullptr;
  }
  static bool fits(const StoredTensor& saved, const Values& values) {
    const bool is_type = saved.info.type == stored_type(values.type());  // Of a rank's file.
    return is_type && bytes_of(saved.info) == values.bytes();
  }

  Shared shared_;
  bool is_same_world_;
  std::vector<const StoredRank*> mine_;  // The ranks that saved whose pieces this rank gets.
  Names visited_;
  Names anew_;     // Pieces that the checkpoint lacks.
  Names misfits_;  // Pieces of this rank that are not restored.
  Names dropped_;  // Pieces of which several saved ranks of this rank's share have other values.
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
    require_host_memory(piece.name, values);
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
  fitter.require_no_parameter_left();
  return fitter.why;
}

RestoreNotes restore(const CheckpointReader& checkpoint, const StateVisit& visit,
                     const RestoredBy& by) {
  Fitter fitter(checkpoint);
  visit(fitter);
  Writer writer(checkpoint, by);
  visit(writer);
  return {.differences = fitter.differences, .losses = writer.losses()};
}

bool do_parameters_fit(const CheckpointReader& checkpoint, const StateVisit& visit) {
  try {
    ParameterVisitor comparer(checkpoint, false);
    visit(comparer);
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kMismatch) throw;
    return false;
  }
}

void restore_parameters(const CheckpointReader& checkpoint, const StateVisit& visit) {
  ParameterVisitor comparer(checkpoint, false);
  visit(comparer);
  ParameterVisitor writer(checkpoint, true);
  visit(writer);
}

}  // namespace rota::checkpoint
