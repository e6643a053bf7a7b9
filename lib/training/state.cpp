// Visitors that copy a state, compare it and write it.
#include "training/state.h"

#include <algorithm>

#include <rota/error.h>

#include "base/hash.h"
#include "checkpoint/contents.h"
#include "training/agreement.h"

namespace rota {
namespace {

using Kind = StateItem::Kind;

std::vector<std::byte> bytes_from(const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  return {begin, begin + bytes};
}

// Makes an item of every visited piece, without the value of a counter or the elements of a tensor.
class ItemVisitor : public StateVisitor {
 public:
  void visit_fact(const StatePiece& piece, const std::string& value) final {
    StateItem item{.kind = Kind::kFact, .owner = piece.owner, .name = piece.name};
    item.bytes = bytes_from(value.data(), value.size());
    take(std::move(item), {}, piece.fit);
  }
  void visit_counter(const StatePiece& piece, std::uint64_t& value) final {
    StateItem item{.kind = Kind::kCounter, .owner = piece.owner, .name = piece.name};
    take(std::move(item), std::as_writable_bytes(std::span(&value, 1)), piece.fit);
  }
  void visit_tensor(const StatePiece& piece, std::span<const std::size_t> shape,
                    Values values) final {
    checkpoint::require_host_memory(piece.name, values);
    StateItem item{.kind = Kind::kTensor, .owner = piece.owner, .name = piece.name};
    item.type = values.type();
    item.shape.assign(shape.begin(), shape.end());
    take(std::move(item), {values.data(), values.bytes()}, piece.fit);
  }

 private:
  // `memory` is the memory of the counter or of the elements. `fit` is that of the piece.
  virtual void take(StateItem item, std::span<std::byte> memory, StateFit fit) = 0;
};

class Copier final : public ItemVisitor {
 public:
  State state;

  bool writes() const noexcept override { return false; }

 private:
  void take(StateItem item, std::span<std::byte> memory, StateFit) override {
    if (item.kind != Kind::kFact) item.bytes.assign(memory.begin(), memory.end());
    state.items.push_back(std::move(item));
  }
};

// Returns a text such as "optimizer sgd, learning rate 0.05", "counter optimizer/step" or
// "model/0.dense.biases [4] of …".
std::string text_of(const StateItem& item, std::size_t bytes) {
  const std::string whose = item.owner == StateOwner::kRank ? ", of one rank" : "";
  if (item.kind == Kind::kCounter) return "counter " + item.name + whose;
  if (item.kind == Kind::kFact) {
    const auto* text = reinterpret_cast<const char*>(item.bytes.data());
    return item.name + " " + std::string(text, item.bytes.size());
  }
  std::string shape;
  for (const std::size_t side : item.shape) {
    shape += (shape.empty() ? "" : ", ") + std::to_string(side);
  }
  return item.name + " [" + shape + "] of " + std::string(to_string(item.type)) + " in " +
         std::to_string(bytes) + " bytes" + whose;
}

// Compares the items of a state with the visited pieces, up to the first difference.
class Comparer final : public ItemVisitor {
 public:
  explicit Comparer(const State& state) : state_(state) {}

  bool writes() const noexcept override { return false; }

  std::string finish() {
    if (why_.empty() && at_ < state_.items.size()) refuse("nothing more");
    return why_;
  }

 private:
  void take(StateItem item, std::span<std::byte> memory, StateFit fit) override {
    if (!why_.empty()) return;
    const std::size_t bytes = item.kind == Kind::kFact ? item.bytes.size() : memory.size();
    if (at_ < state_.items.size() && is_alike(state_.items[at_], item) &&
        has_right_bytes(state_.items[at_], item, bytes, fit)) {
      ++at_;
    } else {
      refuse(text_of(item, bytes));
    }
  }

  static bool is_alike(const StateItem& given, const StateItem& asked) {
    return given.kind == asked.kind && given.owner == asked.owner && given.name == asked.name &&
           given.type == asked.type && given.shape == asked.shape;
  }

  // Requires is_alike().
  static bool has_right_bytes(const StateItem& given, const StateItem& asked, std::size_t bytes,
                              StateFit fit) {
    if (asked.kind != Kind::kFact) return given.bytes.size() == bytes;
    return fit == StateFit::kNoted || given.bytes == asked.bytes;
  }

  void refuse(const std::string& asked) {
    const std::string given = at_ < state_.items.size()
                                  ? text_of(state_.items[at_], state_.items[at_].bytes.size())
                                  : "nothing more";
    why_ = "the state does not fit: it has " + given + ", but this training run has " + asked;
  }

  const State& state_;
  std::size_t at_ = 0;
  std::string why_;
};

// Requires that the state fits.
class Writer final : public ItemVisitor {
 public:
  explicit Writer(const State& state) : state_(state) {}

 private:
  void take(StateItem item, std::span<std::byte> memory, StateFit) override {
    const std::vector<std::byte>& bytes = state_.items[at_++].bytes;
    if (item.kind != Kind::kFact) std::copy(bytes.begin(), bytes.end(), memory.begin());
  }

  const State& state_;
  std::size_t at_ = 0;
};

// Returns the hash of the pieces that ranks share.
std::uint64_t hash_of_shared(const State& state) {
  std::uint64_t hash = base::kFnvStart;
  for (const StateItem& item : state.items) {
    if (item.owner == StateOwner::kRank) continue;
    hash = base::fnv1a(std::as_bytes(std::span(item.name)), hash);
    hash = base::fnv1a(std::span(item.bytes), hash);
  }
  return hash;
}

}  // namespace

State copy_state(const StateVisit& visit) {
  Copier copier;
  visit(copier);
  return std::move(copier.state);
}

std::string why_state_does_not_fit(const State& state, const StateVisit& visit) {
  Comparer comparer(state);
  visit(comparer);
  return comparer.finish();
}

void write_state(const State& state, const StateVisit& visit) {
  const std::string why = why_state_does_not_fit(state, visit);
  if (!why.empty()) throw Error(ErrorCode::kInvalidArgument, why);
  Writer writer(state);
  visit(writer);
}

namespace training {

void give_state(Communicator& communicator, const State& state, const StateVisit& visit) {
  const std::string why = why_state_does_not_fit(state, visit);
  const Facts facts = {{"state of", why.empty() ? "hash " + std::to_string(hash_of_shared(state))
                                                : "another training run: " + why}};
  check_agreement(communicator, facts);
  write_state(state, visit);
}

}  // namespace training
}  // namespace rota
