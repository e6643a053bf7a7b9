// Visits a training state once, and lists what it has.
#include "checkpoint/contents.h"

#include <set>
#include <utility>

#include <rota/error.h>

namespace rota::checkpoint {
namespace {

class Lister final : public StateVisitor {
 public:
  Contents contents;

  bool writes() const noexcept override { return false; }
  void visit_fact(const StatePiece& piece, const std::string& value) override {
    require_new(piece.name);
    contents.facts.push_back({piece, value});
  }
  void visit_counter(const StatePiece& piece, std::uint64_t& value) override {
    require_new(piece.name);
    contents.counters.push_back({piece, value});
  }
  void visit_tensor(const StatePiece& piece, std::span<const std::size_t> shape,
                    Values values) override {
    require_new(piece.name);
    require_host_memory(piece.name, values);
    VisitedTensor tensor{piece, {piece.name, values.type(), {shape.begin(), shape.end()}}, {}, {}};
    tensor.memory = {values.data(), values.bytes()};
    if (piece.writer == StateWriter::kStep) {
      tensor.copy.assign(tensor.memory.begin(), tensor.memory.end());
      tensor.memory = tensor.copy;  // A vector keeps its memory when it moves.
    }
    contents.tensors.push_back(std::move(tensor));
  }

 private:
  // Throws unless the name is new: a checkpoint finds pieces by name.
  void require_new(const std::string& name) {
    if (names_.insert(name).second) return;
    throw Error(ErrorCode::kInvalidArgument,
                "two pieces of the state have the name '" + name +
                    "': give each hook and each tracked value a name of its own");
  }

  std::set<std::string> names_;
};

}  // namespace

void require_host_memory(const std::string& name, const Values& values) {
  if (values.memory().is_host()) return;
  throw Error(ErrorCode::kInvalidArgument,
              "the values '" + name + "' of the state are in the memory of device " +
                  std::to_string(values.memory().device()) +
                  ", where the host cannot read them: name a copy of them in host memory");
}

Contents contents_of(const StateVisit& visit) {
  Lister lister;
  visit(lister);
  return std::move(lister.contents);
}

}  // namespace rota::checkpoint
