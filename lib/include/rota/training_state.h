// All that a training has to remember to go on with the same bits, told piece by piece.
//
// A Trainer, a Replica, and hooks that remember something, have one function each that names their
// pieces: visit_state. It serves a visitor that reads them, as a copy in memory does, and one that
// writes them, as a restart does. So no piece can be saved and not be given back.
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
  kWorld,  // Between steps a piece has the same bits on every rank: one copy will do.
  kRank,   // A piece is this rank's own: what its codec has lost, the seconds that it has trained.
};

// Names are unique in a state, and have the same order in every visit: "optimizer/step".
struct StatePiece {
  std::string name;
  StateOwner owner = StateOwner::kWorld;
};

class ROTA_EXPORT StateVisitor {
 public:
  virtual ~StateVisitor() = default;

  // What the state belongs to, such as the optimizer and its options. It is never changed.
  virtual void visit_fact(const StatePiece& piece, const std::string& value) = 0;

  virtual void visit_counter(const StatePiece& piece, std::uint64_t& value) = 0;

  // `values` are row-major, as many as `shape` says, and lent for the call.
  virtual void visit_tensor(const StatePiece& piece, std::span<const std::size_t> shape,
                            Values values) = 0;
};

// One piece of a state that lies in memory.
struct StateItem {
  enum class Kind : std::uint8_t { kFact, kCounter, kTensor };
  Kind kind = Kind::kFact;
  StateOwner owner = StateOwner::kWorld;
  std::string name;
  DataType type = DataType::kByte;  // kTensor: of its elements.
  std::vector<std::size_t> shape;   // kTensor.
  std::vector<std::byte> bytes;  // kFact: the text; kCounter: a std::uint64_t; kTensor: elements.
  friend bool operator==(const StateItem&, const StateItem&) = default;
};

// A state in memory, of one rank, in the order of the visit.
struct State {
  std::vector<StateItem> items;
  friend bool operator==(const State&, const State&) = default;
};

using StateVisit = std::function<void(StateVisitor&)>;

// A copy of the pieces that `visit` names.
ROTA_EXPORT State copy_state(const StateVisit& visit);

// Why `state` cannot be given to what `visit` names, with both sides; empty where it can. A state
// fits where its pieces are the same in number, order, name, owner, type and shape, and its facts
// have the same text.
ROTA_EXPORT std::string why_state_does_not_fit(const State& state, const StateVisit& visit);

// Writes the pieces of `state` to what `visit` names. Throws Error kInvalidArgument where it does
// not fit; nothing has been written then.
ROTA_EXPORT void write_state(const State& state, const StateVisit& visit);

}  // namespace rota
