// Counts the steps of one communicator, and asks the membership before each step whether to take
// it.
#include <rota/agreed_steps.h>

#include <set>

#include <rota/error.h>

#include "communicator/blame.h"
#include "communicator/impl.h"

namespace rota {

struct AgreedSteps::State {
  std::shared_ptr<CommunicatorImpl> communicator;
  std::shared_ptr<Membership> membership;  // Null: no agreement.
};

namespace {

bool has_whole_job(const Group& group) {
  if (!group.membership) return false;
  const std::set<std::size_t> ranks(group.members.begin(), group.members.end());
  return ranks.size() == group.membership->world_size();
}

}  // namespace

AgreedSteps::AgreedSteps(Communicator& communicator) {
  const auto& impl = CommunicatorImpl::of(communicator);
  const Group& group = impl->group();
  state_ = std::make_unique<State>(State{impl, nullptr});
  if (!has_whole_job(group)) return;
  try {
    group.membership->begin_training(group.deadline);
  } catch (const Error& error) {
    throw told_by_launcher(error, group.members);
  }
  state_->membership = group.membership;
}

AgreedSteps::~AgreedSteps() {
  state_->communicator->origin().leave_elsewhere(state_);
  if (state_ && state_->membership) state_->membership->end_training();
}

bool AgreedSteps::begin() {
  CommunicatorImpl& communicator = *state_->communicator;
  communicator.require_here();
  std::uint64_t& count = communicator.step_count();
  const base::Duration deadline = communicator.group().deadline;
  if (state_->membership && !state_->membership->begin_step(count + 1, deadline)) return false;
  ++count;
  return true;
}

}  // namespace rota
