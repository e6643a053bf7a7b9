// Describes the state of a training run, piece by piece: all that the run needs to continue with
// the same bits.
//
// A Trainer, a Replica, and a hook with state each have one function that names their pieces:
// visit_state. One visitor reads the pieces, to copy them into memory. Another visitor writes the
// pieces, to continue a training run. So every piece that is saved can also be restored.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <rota/export.h>
#include <rota/values.h>

namespace rota {

enum class StateOwner : std::uint8_t {
  kWorld,  // Between steps, the same bits on every rank: one copy is enough.
  kRank,   // Differs between ranks: what a rank's codec has lost, how long it has trained.
};

// What a piece demands of a training run that has other options, or a world of another size. State
// in memory must always fit exactly, since it is given to an equal training run. Only the texts of
// noted facts may differ there.
enum class StateFit : std::uint8_t {
  kStrict,   // A fact must have the same text. A counter or a tensor must be there.
  kLoose,    // A fact may differ, such as the learning rate. A counter or a tensor may be missing.
  kSummed,   // A tensor of one rank (kRank) whose sum over all ranks counts: what codecs have lost.
  kIfThere,  // A checkpoint may lack the piece of a hook: it begins anew. Otherwise as kStrict.
  kNoted,    // A fact, as kLoose. Checkpoints of earlier versions lack it: nothing is said then.
};

// When the training run writes the memory of a tensor.
enum class StateWriter : std::uint8_t {
  kStep,    // At any time in a step. The memory may end with the visit.
  kUpdate,  // Only while a step updates parameter `index`. The memory stays in its place.
  kSend,    // Only while a step sends bucket `index`. The memory stays in its place.
};

// Names, such as "optimizer/step", are unique in a state. Every visit has the same order.
struct StatePiece {
  std::string name;
  StateOwner owner = StateOwner::kWorld;
  StateFit fit = StateFit::kStrict;
  StateWriter writer = StateWriter::kStep;
  std::size_t index = 0;  // kUpdate: the parameter; kSend: the bucket.
};

class ROTA_EXPORT StateVisitor {
 public:
  virtual ~StateVisitor() = default;

  // Returns whether the visitor may write values. If not, a state on a device is only read.
  virtual bool writes() const noexcept { return true; }

  // Visits a fact about the training run, such as its optimizer and the optimizer's options. No
  // visitor changes a fact.
  virtual void visit_fact(const StatePiece& piece, const std::string& value) = 0;

  virtual void visit_counter(const StatePiece& piece, std::uint64_t& value) = 0;

  // `values` are row-major, have as many elements as `shape` says, and are borrowed for the call.
  // They must be in host memory: visitors of rota throw Error kInvalidArgument for a DeviceSpan.
  virtual void visit_tensor(const StatePiece& piece, std::span<const std::size_t> shape,
                            Values values) = 0;
};

// One piece of a state in memory.
struct StateItem {
  enum class Kind : std::uint8_t { kFact, kCounter, kTensor };
  Kind kind = Kind::kFact;
  StateOwner owner = StateOwner::kWorld;
  std::string name;
  DataType type = DataType::kByte;  // kTensor: the type of its elements.
  std::vector<std::size_t> shape;   // kTensor.
  std::vector<std::byte> bytes;  // kFact: its text; kCounter: a std::uint64_t; kTensor: elements.
  friend bool operator==(const StateItem&, const StateItem&) = default;
};

// The state of one rank in memory, in the order of the visit.
struct State {
  std::vector<StateItem> items;
  friend bool operator==(const State&, const State&) = default;
};

using StateVisit = std::function<void(StateVisitor&)>;

// Returns a copy of the pieces that `visit` names. Throws what the visit throws.
ROTA_EXPORT State copy_state(const StateVisit& visit);

// Returns why `state` cannot be given to the pieces that `visit` names, with both sides; empty if
// it can. A state fits if its pieces agree in number, order, name, owner, type and shape, and its
// facts have the same text, except those that are only noted (kNoted).
ROTA_EXPORT std::string why_state_does_not_fit(const State& state, const StateVisit& visit);

// Writes `state` to the pieces that `visit` names. Throws Error kInvalidArgument if `state` does
// not fit; then nothing has been written.
ROTA_EXPORT void write_state(const State& state, const StateVisit& visit);

}  // namespace rota
