// A training loop of one's own in a Session. Method: the ranks are threads, and the files are real;
// the weights of the loop tell how many steps it has taken.
#include <rota/session.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <rota/replica.h>

#include "training/temporary_folder.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::on_every_rank;
using testing::outcomes_of_ranks;
using testing::TemporaryFolder;

// What a loop has, and the order in which its hook is told of things.
struct Loop {
  std::vector<float> weights = std::vector<float>(100);
  std::vector<double> own = std::vector<double>(3);
  std::vector<std::string> told;
};

class Told : public SessionHook {
 public:
  explicit Told(Loop& loop) : loop_(loop) {}
  void on_begin(const Restored& restored) override {
    tell("begin " + std::to_string(restored.step));
  }
  void on_step(std::uint64_t step, std::span<const double> sums) override {
    tell("step " + std::to_string(step) +
         (sums.empty() ? "" : " sum " + std::to_string(static_cast<int>(sums.front()))));
  }
  void on_checkpoint(const CheckpointReport& report) override {
    tell("checkpoint " + std::to_string(report.step));
  }
  void on_end(std::uint64_t step) override { tell("end " + std::to_string(step)); }

 private:
  void tell(const std::string& what) { loop_.told.push_back(what); }
  Loop& loop_;
};

class SessionTest : public ::testing::Test {
 protected:
  SessionOptions options() const {
    SessionOptions options;
    options.checkpoints.folder = folder_.path() / "run";
    options.checkpoints.every_seconds = 0;
    return options;
  }

  // Trains until `steps` steps are done. Calls `before` before each step, and `after` when the step
  // has ended.
  template <class Before>
  Loop train(Communicator& communicator, const SessionOptions& options, std::uint64_t steps,
             const Before& before) const {
    Loop loop;
    Told hook(loop);
    Session session(communicator, options);
    session.track("weights", loop.weights);
    session.track_own("own", loop.own);
    session.add_hook(hook);
    session.restore();
    while (session.step() < steps && session.begin_step()) {
      before(session);
      session.before_update();
      for (float& weight : loop.weights) weight += static_cast<float>(session.step() + 1);
      loop.own.front() += static_cast<double>(communicator.rank());
      double one = 1;
      session.end_step(std::span(&one, 1));
    }
    session.end();
    return loop;
  }

  static void nothing(Session&) {}

  TemporaryFolder folder_;
};

TEST_F(SessionTest, TrainsWithoutAFolderToo) {
  on_every_rank(2, [&](Communicator& communicator) {
    const Loop loop = train(communicator, {}, 3, nothing);
    EXPECT_EQ(loop.weights.back(), 6);
    EXPECT_THAT(loop.told,
                ElementsAre("begin 0", "step 1 sum 2", "step 2 sum 2", "step 3 sum 2", "end 3"));
  });
}

TEST_F(SessionTest, GoesOnWhereTheLastOneEnded) {
  on_every_rank(3, [&](Communicator& communicator) {
    train(communicator, options(), 2, nothing);
    const Loop loop = train(communicator, options(), 4, nothing);
    EXPECT_EQ(loop.weights.front(), 10);
    EXPECT_EQ(loop.own.front(), 4.0 * static_cast<double>(communicator.rank()));
    EXPECT_THAT(loop.told,
                ElementsAre("begin 2", "step 3 sum 3", "step 4 sum 3", "checkpoint 4", "end 4"));
  });
}

// Otherwise the folder would say that the run has ended, with values that nobody has trained.
TEST_F(SessionTest, NothingEndsBeforeRestore) {
  on_every_rank(1, [&](Communicator& communicator) {
    train(communicator, options(), 2, nothing);
    Loop loop;
    Session session(communicator, options());
    session.track("weights", loop.weights);
    session.track_own("own", loop.own);
    EXPECT_THROW(session.begin_step(), Error);
    EXPECT_THROW(session.end_step(), Error);
    EXPECT_THROW(session.end(), Error);
    EXPECT_EQ(session.restore().step, 2U) << "the checkpoint of the run is still there";
    EXPECT_EQ(loop.weights.back(), 3);
  });
}

// A safetensors file has no type for plain bytes.
TEST_F(SessionTest, RestoresBytesThatARankAloneHas) {
  on_every_rank(2, [&](Communicator& communicator) {
    const auto mine = static_cast<std::byte>(7 + communicator.rank());
    {
      std::vector<std::byte> own(3, mine);
      Session session(communicator, options());
      session.track_own("own", own);
      session.restore();
      session.end();
    }
    std::vector<std::byte> own(3);
    Session session(communicator, options());
    session.track_own("own", own);
    EXPECT_EQ(session.restore().note, "");
    EXPECT_EQ(own.back(), mine);
  });
}

TEST_F(SessionTest, NamesWhatARankAloneHasInAnotherShape) {
  on_every_rank(2, [&](Communicator& communicator) {
    const auto restored_note = [&](std::vector<double>& own) {
      Session session(communicator, options());
      session.track_own("own", own);
      std::string note = session.restore().note;
      session.end();
      return note;
    };
    std::vector<double> saved(3, 1);
    EXPECT_EQ(restored_note(saved), "");
    std::vector<double> longer(4, 2);
    EXPECT_EQ(restored_note(longer), "this has another shape, so it is left out: model/own");
    EXPECT_EQ(longer, std::vector<double>(4, 2));
  });
}

// Method: each rank has its number in its values, and the second run begins with other values.
TEST_F(SessionTest, SaysWhatRanksAloneLoseInAnotherWorld) {
  const auto run = [&](std::size_t world_size, double first, std::vector<std::string>& notes,
                       std::vector<double>& values) {
    notes.assign(world_size, "");
    values.assign(world_size, 0);
    on_every_rank(world_size, [&](Communicator& communicator) {
      const std::size_t rank = communicator.rank();
      std::vector<double> own(3, first + static_cast<double>(rank));
      Session session(communicator, options());
      session.track_own("own", own);
      notes[rank] = session.restore().note;
      values[rank] = own.back();
      session.end();
    });
  };
  std::vector<std::string> notes;
  std::vector<double> values;
  run(3, 1, notes, values);
  run(2, 10, notes, values);
  EXPECT_THAT(notes, ElementsAre("of model/own, the values of one saved rank are taken, and those "
                                 "of other ranks are left out",
                                 ""));
  EXPECT_THAT(values, ElementsAre(1, 2));
  run(5, 10, notes, values);
  const std::string lacks = "the checkpoint lacks model/own, so this begins anew";
  EXPECT_THAT(notes, ElementsAre("rank 3 (and 1 more): " + lacks, "", "", lacks, lacks));
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 13, 14));
}

// The checkpoint has the numbers that a rank's hook alone has, so the note does not say that it
// lacks them.
TEST_F(SessionTest, NamesOnlyOnceWhatOfAHookHasAnotherShape) {
  on_every_rank(1, [&](Communicator& communicator) {
    for (const std::size_t count : {3, 4}) {
      std::vector<double> own(count);
      Session session(communicator, options());
      session.track([&](StateVisitor& visitor) {
        visitor.visit_tensor(
            {.name = "hook/own", .owner = StateOwner::kRank, .fit = StateFit::kIfThere},
            std::span(&count, 1), own);
      });
      EXPECT_EQ(session.restore().note,
                count == 3 ? "" : "this has another shape, so it is left out: hook/own");
      session.end();
    }
  });
}

TEST_F(SessionTest, SaysInTheFolderThatTheRunHasEnded) {
  on_every_rank(1, [&](Communicator& communicator) {
    const auto has_ended = [&] {
      return std::filesystem::exists(folder_.path() / "run/ended.json");
    };
    const auto expect_not = [&](Session&) { EXPECT_FALSE(has_ended()); };
    train(communicator, options(), 2, expect_not);
    EXPECT_TRUE(has_ended());
    train(communicator, options(), 2, expect_not);
    EXPECT_TRUE(has_ended()) << "no step was left";
    train(communicator, options(), 4, expect_not);
    EXPECT_TRUE(has_ended());
  });
}

// A run that stops before a time limit goes on later, so an evaluator must wait for it.
TEST_F(SessionTest, DoesNotSayThatARunHasEndedThatWasAskedToStop) {
  on_every_rank(2, [&](Communicator& communicator) {
    const auto has_ended = [&] {
      communicator.barrier();  // Rank 0 writes the file.
      return std::filesystem::exists(folder_.path() / "run/ended.json");
    };
    const auto stop_in = [&](std::uint64_t step) {
      return [&communicator, step](Session& session) {
        if (communicator.rank() == 1 && session.step() + 1 == step) session.ask_to_stop();
      };
    };
    EXPECT_EQ(train(communicator, options(), 5, stop_in(3)).told.back(), "end 3");
    EXPECT_FALSE(has_ended());
    EXPECT_EQ(train(communicator, options(), 5, stop_in(5)).told.back(), "end 5");
    EXPECT_TRUE(has_ended()) << "the last step is done, so the wish to stop changes nothing";
  });
}

TEST_F(SessionTest, SavesEverySoManySteps) {
  on_every_rank(2, [&](Communicator& communicator) {
    SessionOptions often = options();
    often.checkpoints.every_steps = 2;
    often.checkpoints.asynchronous = false;
    const Loop loop = train(communicator, often, 5, nothing);
    EXPECT_THAT(loop.told, ElementsAre("begin 0", "step 1 sum 2", "step 2 sum 2", "checkpoint 2",
                                       "step 3 sum 2", "step 4 sum 2", "checkpoint 4",
                                       "step 5 sum 2", "checkpoint 5", "end 5"));
  });
}

// Only the last rank asks.
TEST_F(SessionTest, AllRanksStopAfterTheSameStepIfOneAsks) {
  on_every_rank(3, [&](Communicator& communicator) {
    const Loop loop = train(communicator, options(), 100, [&](Session& session) {
      if (communicator.rank() == 2 && session.step() == 3) session.ask_to_stop();
    });
    EXPECT_EQ(loop.told.back(), "end 4");
  });
}

TEST_F(SessionTest, AllRanksSaveIfOneAsks) {
  on_every_rank(3, [&](Communicator& communicator) {
    SessionOptions waiting = options();
    waiting.checkpoints.asynchronous = false;
    const Loop loop = train(communicator, waiting, 3, [&](Session& session) {
      if (communicator.rank() == 1 && session.step() == 0) session.ask_for_checkpoint();
    });
    EXPECT_EQ(loop.told[2], "checkpoint 1");
  });
}

TEST_F(SessionTest, KeepsTheBestCheckpointUntilAnotherIsNamed) {
  SessionOptions newest = options();
  newest.checkpoints.keep = 1;
  newest.checkpoints.every_steps = 1;
  newest.checkpoints.asynchronous = false;
  const auto kept_after = [&](std::uint64_t steps, std::uint64_t at, std::uint64_t best) {
    on_every_rank(2, [&](Communicator& communicator) {
      train(communicator, newest, steps, [&](Session& session) {
        if (session.step() == at) session.keep_best(best);
      });
    });
    std::vector<std::uint64_t> kept;
    for (std::uint64_t step = 1; step <= steps; ++step) {
      const std::string name = std::to_string(step);
      if (std::filesystem::exists(folder_.path() / "run" /
                                  (std::string(12 - name.size(), '0') + name))) {
        kept.push_back(step);
      }
    }
    return kept;
  };
  EXPECT_THAT(kept_after(5, 1, 2), ElementsAre(2, 5)) << "the step under way";
  EXPECT_THAT(kept_after(7, 5, 2), ElementsAre(2, 7)) << "a step of an earlier start";
  EXPECT_THAT(kept_after(9, 8, 8), ElementsAre(8, 9)) << "the step before";
}

TEST_F(SessionTest, RefusesValuesThatMayHaveChangedWhileTheyAreSaved) {
  on_every_rank(1, [&](Communicator& communicator) {
    Loop loop;
    SessionOptions often = options();
    often.checkpoints.every_steps = 1;
    Session session(communicator, often);
    session.track("weights", loop.weights);
    session.restore();
    ASSERT_TRUE(session.begin_step());
    session.end_step();  // Saves.
    ASSERT_TRUE(session.begin_step());
    const auto outcome = [&] {
      try {
        session.end_step();
      } catch (...) {
        return std::current_exception();
      }
      return std::exception_ptr();
    }();
    EXPECT_EQ(error_of(outcome).code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error_of(outcome).what(), HasSubstr("before_update()"));
  });
}

// Such a step updates nothing.
TEST_F(SessionTest, AReplicaMayTakeAStepWithoutSamplesAfterASave) {
  const Dataset data = testing::small_dataset(10);
  on_every_rank(2, [&](Communicator& communicator) {
    SessionOptions often = options();
    often.checkpoints.every_steps = 1;
    Replica<float> replica(communicator, Model<float>({6, 6, 1}, {dense(4)}), {});
    BatchBuffer<float> buffer(data, 5);
    Session session(communicator, often);
    session.track([&](StateVisitor& visitor) { replica.visit_state(visitor); });
    replica.set_guard(&session.guard());
    session.restore();
    const std::vector<std::uint64_t> some = {1, 2, 3};
    for (const auto& samples : std::vector<std::vector<std::uint64_t>>{some, {}, some}) {
      ASSERT_TRUE(session.begin_step());
      replica.step(buffer.gather(samples), {});
      session.end_step();
    }
    session.end();
    EXPECT_EQ(session.step(), 3U);
  });
}

TEST_F(SessionTest, RefusesTwoValuesOfOneNameOnEveryRank) {
  const auto outcomes = outcomes_of_ranks(2, [&](Communicator& communicator) {
    Loop loop;
    Session session(communicator, options());
    session.track("weights", loop.weights);
    session.track("weights", loop.own);
    session.restore();
    session.end();
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(error_of(outcome).code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error_of(outcome).what(), HasSubstr("model/weights"));
  }
}

// What sending changes, and what updates change.
class Changing {
 public:
  explicit Changing(std::size_t count) : lost(count) {}

  StateVisit visitor() {
    return [this](StateVisitor& visitor) {
      const std::size_t count = lost.size();
      visitor.visit_tensor({.name = "codec/bucket 0/lost",
                            .owner = StateOwner::kRank,
                            .fit = StateFit::kSummed,
                            .writer = StateWriter::kSend},
                           std::span(&count, 1), lost);
    };
  }

  std::vector<float> lost;
};

// Method: the copy of 64 MiB lasts longer than the time from the beginning of the next step until
// the step changes the last element.
TEST_F(SessionTest, ASaveHasWhatCodecsHadLostBeforeTheNextStep) {
  for (const bool has_guard : {false, true}) {
    std::filesystem::remove_all(folder_.path() / "run");
    on_every_rank(1, [&](Communicator& communicator) {
      Changing state(std::size_t{1} << 24);
      SessionOptions often = options();
      often.checkpoints.every_steps = 1;
      {
        Session session(communicator, often);
        session.track(state.visitor());
        session.restore();
        StepGuard* guard = has_guard ? &session.guard() : nullptr;
        ASSERT_TRUE(session.begin_step());
        session.before_update();
        session.end_step();  // Saves.
        ASSERT_TRUE(session.begin_step());
        if (guard != nullptr) guard->before_send(0);
        state.lost.back() = 7;
      }
      Session session(communicator, often);
      session.track(state.visitor());
      EXPECT_EQ(session.restore().step, 1U);
      EXPECT_EQ(state.lost.back(), 0) << (has_guard ? "with" : "without") << " a guard";
    });
  }
}

}  // namespace
}  // namespace rota
