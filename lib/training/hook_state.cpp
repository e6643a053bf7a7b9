// Passes the pieces of a hook on to a visitor, and says that it was a hook if the visit fails.
#include "training/hook_state.h"

#include <exception>
#include <string>

#include <rota/error.h>
#include <rota/training_loop.h>

namespace rota {
namespace training {
namespace {

// The pieces of a chief's hook are pieces of one rank, because the other ranks lack them.
class HookVisitor final : public StateVisitor {
 public:
  HookVisitor(StateVisitor& visitor, bool is_chiefs) : visitor_(visitor), is_chiefs_(is_chiefs) {}

  bool writes() const noexcept override { return visitor_.writes(); }
  void visit_fact(const StatePiece& piece, const std::string& value) override {
    pass_on(piece, [&](const StatePiece& owned) { visitor_.visit_fact(owned, value); });
  }
  void visit_counter(const StatePiece& piece, std::uint64_t& value) override {
    pass_on(piece, [&](const StatePiece& owned) { visitor_.visit_counter(owned, value); });
  }
  void visit_tensor(const StatePiece& piece, std::span<const std::size_t> shape,
                    Values values) override {
    pass_on(piece, [&](const StatePiece& owned) { visitor_.visit_tensor(owned, shape, values); });
  }

  // Returns whether the exception came from the visitor, and not from the hook.
  bool has_failed() const noexcept { return has_failed_; }

 private:
  template <class Visit>
  void pass_on(StatePiece piece, Visit visit) {
    if (is_chiefs_) piece.owner = StateOwner::kRank;
    if (piece.fit == StateFit::kStrict) piece.fit = StateFit::kIfThere;
    has_failed_ = true;
    visit(piece);
    has_failed_ = false;
  }

  StateVisitor& visitor_;
  bool is_chiefs_;
  bool has_failed_ = false;
};

}  // namespace

void visit_hook(StateVisitor& visitor, bool is_chiefs, const StateVisit& hook) {
  const std::string who = "a training hook failed when its state was visited: ";
  HookVisitor inner(visitor, is_chiefs);
  try {
    hook(inner);
  } catch (const Error& error) {
    if (inner.has_failed()) throw;
    throw Error(error.code(), who + error.what());
  } catch (const std::exception& error) {
    if (inner.has_failed()) throw;
    throw Error(ErrorCode::kInvalidArgument, who + error.what());
  }
}

}  // namespace training

void TrainingLoop::visit_hook(StateVisitor& visitor, bool is_chiefs, const StateVisit& hook) {
  training::visit_hook(visitor, is_chiefs, hook);
}

}  // namespace rota
