// A state in the memory of a device is refused wherever the host would read or write it. Method: a
// DeviceSpan gives memory of the host out as that of a device. So a call that does not refuse it
// goes well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <rota/checkpoint.h>
#include <rota/error.h>
#include <rota/session.h>
#include <rota/training_state.h>

#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::on_every_rank;

// Expects that `call` refuses the values of this name.
template <class Call>
void expect_refusal_of(const std::string& name, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "the call has taken " << name;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(),
                HasSubstr("'" + name + "' of the state are in the memory of device 3"));
  }
}

StateVisit visit_of_weights(Values weights) {
  return [weights](StateVisitor& visitor) {
    const std::size_t count = weights.count();
    visitor.visit_tensor({.name = "model/weights"}, std::span(&count, 1), weights);
  };
}

class StateOnADevice : public ::testing::Test {
 protected:
  CheckpointOptions options() const {
    CheckpointOptions options;
    options.folder = folder_.path() / "run";
    return options;
  }

  // Saves the weights {1, 2, 3} as step 1, and changes them.
  void save_and_change() {
    on_every_rank(1, [&](Communicator& communicator) {
      Checkpointer checkpointer(communicator, options(), visit_of_weights(weights_));
      checkpointer.restore();
      checkpointer.finish(1);
    });
    weights_ = {4, 5, 6};
  }

  // Expects that a run with these options does not write a checkpoint to the device.
  void expect_nothing_restored(const CheckpointOptions& options) {
    on_every_rank(1, [&](Communicator& communicator) {
      Checkpointer checkpointer(communicator, options, visit_of_weights(on_device()));
      expect_refusal_of("model/weights", [&] { checkpointer.restore(); });
    });
    EXPECT_THAT(weights_, ElementsAre(4, 5, 6));
  }

  DeviceSpan<float> on_device() { return {weights_.data(), weights_.size(), 3}; }

  std::vector<float> weights_ = {1, 2, 3};
  testing::TemporaryFolder folder_;
};

TEST_F(StateOnADevice, IsRefusedWhenASessionTracksIt) {
  on_every_rank(1, [&](Communicator& communicator) {
    Session session(communicator);
    expect_refusal_of("weights", [&] { session.track("weights", on_device()); });
    expect_refusal_of("weights", [&] { session.track_own("weights", on_device()); });
    session.track("weights", weights_);
    EXPECT_NO_THROW(session.restore());
  });
}

TEST_F(StateOnADevice, IsRefusedWhenASaveVisitsIt) {
  on_every_rank(1, [&](Communicator& communicator) {
    Session session(communicator, {.checkpoints = options()});
    session.track(visit_of_weights(on_device()));
    session.restore();  // There is no checkpoint.
    expect_refusal_of("model/weights", [&] { session.end(); });
  });
}

TEST_F(StateOnADevice, IsRefusedBeforeACheckpointIsRestored) {
  save_and_change();
  expect_nothing_restored(options());
}

// Method: the visit names the device only to a visitor that may write, and a copy in host memory to
// all others. So the comparison before a restore finds nothing wrong.
TEST_F(StateOnADevice, IsRefusedWhereARestoreWouldWriteToIt) {
  save_and_change();
  std::vector<float> copy = weights_;
  on_every_rank(1, [&](Communicator& communicator) {
    Checkpointer checkpointer(communicator, options(), [&](StateVisitor& visitor) {
      visit_of_weights(visitor.writes() ? Values(on_device()) : Values(copy))(visitor);
    });
    expect_refusal_of("model/weights", [&] { checkpointer.restore(); });
  });
  EXPECT_THAT(weights_, ElementsAre(4, 5, 6));
}

TEST_F(StateOnADevice, IsRefusedBeforeParametersAloneAreRestored) {
  save_and_change();
  CheckpointOptions branch = options();
  branch.folder = folder_.path() / "branch";
  branch.from = options().folder / "000000000001";
  branch.resume = Resume::kParameters;
  expect_nothing_restored(branch);
}

TEST_F(StateOnADevice, IsNoStateInMemory) {
  const State state = copy_state(visit_of_weights(weights_));
  const StateVisit visit = visit_of_weights(on_device());
  weights_ = {4, 5, 6};
  expect_refusal_of("model/weights", [&] { copy_state(visit); });
  expect_refusal_of("model/weights", [&] { why_state_does_not_fit(state, visit); });
  expect_refusal_of("model/weights", [&] { write_state(state, visit); });
  EXPECT_THAT(weights_, ElementsAre(4, 5, 6));
}

}  // namespace
}  // namespace rota
