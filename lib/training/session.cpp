// A Session's steps, wishes and hooks. The Checkpointer does what concerns files.
#include <rota/session.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rota/agreed_steps.h>
#include <rota/error.h>

#include "base/thrown.h"
#include "checkpoint/contents.h"
#include "training/hook_state.h"

namespace rota {
namespace {

constexpr std::size_t kAllBuckets = std::numeric_limits<std::size_t>::max();

}  // namespace

class Session::Impl final : public StepGuard {
 public:
  struct Tracked {
    std::string name;
    StateOwner owner = StateOwner::kWorld;
    Values values;
  };
  struct AddedHook {
    SessionHook* hook = nullptr;
    bool is_chiefs = false;
  };

  // Lets SIGTERM end the ranks at once while a Checkpointer waits for another job. There is nothing
  // to save yet, and the wait may be longer than rotarun's --grace.
  Impl(Communicator& communicator, const SessionOptions& options) : communicator_(communicator) {
    if (!options.checkpoints.folder.empty()) {
      checkpointer_.emplace(communicator, options.checkpoints,
                            [this](StateVisitor& visitor) { visit(visitor); });
    }
    steps_.emplace(communicator);
  }

  ~Impl() override {
    const bool unwinds = std::uncaught_exceptions() > exception_count_;
    if (has_restored_ && unwinds) fail("the training loop failed: its exception says why");
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  bool is_chief() const noexcept { return communicator_.rank() == 0; }

  void track(Tracked tracked) {
    require(!has_restored_, "track() comes before restore()");
    checkpoint::require_host_memory(tracked.name, tracked.values);
    tracked_.push_back(std::move(tracked));
  }
  void track(StateVisit visit) {
    require(!has_restored_, "track() comes before restore()");
    visits_.push_back(std::move(visit));
  }
  void add_hook(SessionHook& hook) { add({&hook, false}, true); }
  void add_chief_hook(SessionHook& hook) { add({&hook, true}, is_chief()); }

  Restored restore() {
    require(!has_restored_, "restore() was called before");
    Restored restored;
    telling_of_failure([&] {
      if (checkpointer_) restored = checkpointer_->restore();
      has_restored_ = true;
      tell([&](SessionHook& hook) { hook.on_begin(restored); });
    });
    return restored;
  }

  std::uint64_t step() const noexcept { return step_; }

  bool begin_step() {
    require(has_restored_, "restore() comes before the first step");
    telling_of_failure([&] {
      is_interrupted_ = has_to_stop_ || !steps_->begin();
      if (is_interrupted_ || !checkpointer_) return;
      checkpointer_->go_on();
      if (!has_guard_) checkpointer_->before_send(kAllBuckets);
    });
    if (is_interrupted_) return false;
    may_change_ = !saves_meanwhile_;
    return true;
  }

  StepGuard& guard() noexcept {
    has_guard_ = true;
    return *this;
  }

  // Parameter 0 is updated last, and all that track() names has its index.
  void before_update(std::size_t parameter) override {
    if (checkpointer_) checkpointer_->before_update(parameter);
    if (parameter > 0) return;
    may_change_ = true;
    saves_meanwhile_ = false;
  }

  void before_send(std::size_t bucket) override {
    if (checkpointer_) checkpointer_->before_send(bucket);
  }

  // Values of track() may change in any step. Without them, a save may still copy what the next
  // step changes.
  void skip_update() override {
    if (!tracked_.empty()) return before_update(0);
    may_change_ = true;
  }

  // Saves when the hooks have been told, so that a checkpoint has what they remember of this step.
  void end_step(std::span<double> sums) {
    require(has_restored_, "restore() comes before the first step");
    require(may_change_, "before_update() must be called before the values of a step change");
    telling_of_failure([&] {
      ++step_;
      const bool has_to_save = agree(sums);
      tell([&](SessionHook& hook) { hook.on_step(step_, sums); });
      if (has_to_save) {
        checkpointer_->save(step_);
        saves_meanwhile_ = true;
      }
      report_finished();
    });
  }

  void ask_to_stop() noexcept { wants_to_stop_ = true; }
  void ask_for_checkpoint() noexcept { wants_checkpoint_ = true; }
  void keep_best(std::uint64_t step) {
    if (checkpointer_ && is_chief()) checkpointer_->mark_best(step);
  }

  void end() {
    // A checkpoint of values that were not restored would set those of the run aside.
    require(has_restored_, "restore() comes before end()");
    telling_of_failure([&] {
      if (checkpointer_) {
        checkpointer_->finish(step_);
        report_finished();
        if (!is_interrupted_) checkpointer_->complete(step_);
      }
      tell([&](SessionHook& hook) { hook.on_end(step_); });
    });
  }

 private:
  static void require(bool is_met, const char* what) {
    if (!is_met) throw Error(ErrorCode::kInvalidArgument, std::string("Session: ") + what);
  }

  // Refuses a late hook of rank 0 on all ranks, so that none goes on alone.
  void add(AddedHook added, bool is_mine) {
    require(!has_restored_, "add_hook() and add_chief_hook() come before restore()");
    if (is_mine) hooks_.push_back(added);
  }

  void visit(StateVisitor& visitor) {
    visitor.visit_counter({.name = "session/step"}, step_);
    for (const Tracked& tracked : tracked_) {
      const std::size_t count = tracked.values.count();
      visitor.visit_tensor(
          {.name = "model/" + tracked.name,
           .owner = tracked.owner,
           .fit = tracked.owner == StateOwner::kRank ? StateFit::kIfThere : StateFit::kStrict,
           .writer = StateWriter::kUpdate},
          std::span(&count, 1), tracked.values);
    }
    for (const StateVisit& visit : visits_) visit(visitor);
    for (const AddedHook& added : hooks_) {
      training::visit_hook(visitor, added.is_chiefs,
                           [&](StateVisitor& inner) { added.hook->visit_state(inner); });
    }
  }

  // Adds up `sums` and the wishes of all ranks. Returns whether to save a checkpoint.
  bool agree(std::span<double> sums) {
    const bool is_due = checkpointer_ && checkpointer_->is_due(step_);
    numbers_.assign(sums.begin(), sums.end());
    numbers_.push_back(wants_to_stop_ ? 1 : 0);
    numbers_.push_back(std::exchange(wants_checkpoint_, false) || is_due ? 1 : 0);
    communicator_.all_reduce(numbers_, ReduceOp::kSum);
    std::copy_n(numbers_.begin(), sums.size(), sums.begin());
    has_to_stop_ |= numbers_[sums.size()] > 0;
    return checkpointer_ && numbers_[sums.size() + 1] > 0;
  }

  // Tells the hooks of the checkpoints that have become complete.
  void report_finished() {
    if (!checkpointer_) return;
    while (const auto report = checkpointer_->finished()) {
      if (!report->failure.empty()) continue;
      tell([&](SessionHook& hook) { hook.on_checkpoint(*report); });
    }
  }

  // If a hook fails, aborts the communicator, so that other ranks do not wait for this rank.
  template <class Event>
  void tell(const Event& event) {
    try {
      for (const AddedHook& added : hooks_) event(*added.hook);
    } catch (...) {
      communicator_.abort("a hook of the session failed: " + base::text_of_thrown("it"));
      throw;
    }
  }

  // Runs `work`. If it fails, tells the hooks, and throws what `work` has thrown.
  template <class Work>
  void telling_of_failure(const Work& work) {
    try {
      work();
    } catch (...) {
      fail(base::text_of_thrown("the session or one of its hooks"));
      throw;
    }
  }

  // Tells the hooks of the first failure, and of no other.
  void fail(const std::string& first_cause) noexcept {
    if (std::exchange(has_failed_, true)) return;
    for (const AddedHook& added : hooks_) added.hook->on_failure(first_cause);
  }

  Communicator& communicator_;
  std::optional<AgreedSteps> steps_;
  std::vector<Tracked> tracked_;
  std::vector<StateVisit> visits_;
  std::vector<AddedHook> hooks_;
  std::vector<double> numbers_;  // Of agree().
  std::uint64_t step_ = 0;
  int exception_count_ = std::uncaught_exceptions();
  bool has_restored_ = false;
  bool has_failed_ = false;
  bool has_guard_ = false;  // Steps announce what they send.
  bool has_to_stop_ = false;
  bool is_interrupted_ = false;   // The loop wanted a further step, and the ranks had to stop.
  bool saves_meanwhile_ = false;  // A save has begun since the last before_update().
  bool may_change_ = true;        // This step has announced its changes, or need not.
  bool wants_to_stop_ = false;
  bool wants_checkpoint_ = false;
  std::optional<Checkpointer> checkpointer_;  // Last: its thread reads what is tracked.
};

Session::Session(Communicator& communicator, const SessionOptions& options)
    : impl_(std::make_unique<Impl>(communicator, options)) {}
Session::~Session() = default;

bool Session::is_chief() const noexcept { return impl_->is_chief(); }
void Session::track(const std::string& name, Values values) {
  impl_->track({name, StateOwner::kWorld, values});
}
void Session::track_own(const std::string& name, Values values) {
  impl_->track({name, StateOwner::kRank, values});
}
void Session::track(StateVisit visit) { impl_->track(std::move(visit)); }
void Session::add_hook(SessionHook& hook) { impl_->add_hook(hook); }
void Session::add_chief_hook(SessionHook& hook) { impl_->add_chief_hook(hook); }
Restored Session::restore() { return impl_->restore(); }
std::uint64_t Session::step() const noexcept { return impl_->step(); }
bool Session::begin_step() { return impl_->begin_step(); }
StepGuard& Session::guard() noexcept { return impl_->guard(); }
void Session::before_update() { impl_->before_update(0); }
void Session::end_step(std::span<double> sums) { impl_->end_step(sums); }
void Session::ask_to_stop() noexcept { impl_->ask_to_stop(); }
void Session::ask_for_checkpoint() noexcept { impl_->ask_for_checkpoint(); }
void Session::keep_best(std::uint64_t step) { impl_->keep_best(step); }
void Session::end() { impl_->end(); }

}  // namespace rota
