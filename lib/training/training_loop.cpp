// Checks the options of a training run, and keeps its place, which is a part of its state.
#include <rota/training_loop.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/counted.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "base/thrown.h"
#include "training/agreement.h"
#include "training/checkpoints.h"
#include "training/sample_facts.h"
#include "training/state.h"

namespace rota {
namespace {

constexpr std::size_t kMostPrefetched = 1000;

const TrainerOptions& checked(const TrainerOptions& options) {
  if (options.epochs == 0) {
    throw Error(ErrorCode::kInvalidArgument, "epochs 0: expected 1 or more");
  }
  if (options.accumulation_steps == 0) {
    throw Error(ErrorCode::kInvalidArgument, "accumulation steps 0: expected 1 or more");
  }
  if (options.prefetch > kMostPrefetched) {
    throw Error(ErrorCode::kInvalidArgument, "prefetch " + std::to_string(options.prefetch) +
                                                 ": expected 0 to " +
                                                 std::to_string(kMostPrefetched) + " steps");
  }
  const double factor = options.final_learning_rate_factor;
  if (!(factor >= 0 && factor <= 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                "final learning rate factor " + base::shortest_text(factor) + ": expected 0 to 1");
  }
  return options;
}

SamplerOptions sampler_options(const Communicator& communicator, const SampleFacts& train,
                               const TrainerOptions& options) {
  return {train.count,  options.batch_size,     communicator.rank(), communicator.world_size(),
          options.seed, options.shuffle_window, train.shards};
}

// The part of a training run's definition that says how samples are shuffled.
std::string text_of_order(const SampleFacts& train, const TrainerOptions& options) {
  if (options.shuffle_window == 0) return "of all samples";
  const std::size_t whole[] = {train.count};
  const std::span<const std::size_t> shards =
      train.shards.empty() ? whole : std::span(train.shards);
  std::uint64_t hash = base::kFnvStart;
  for (const std::uint64_t shard : shards) {
    hash = base::fnv1a(std::as_bytes(std::span(&shard, 1)), hash);
  }
  return "by windows of " + std::to_string(options.shuffle_window) + " samples, shards " +
         std::to_string(shards.size()) + ", hash of their sizes " + std::to_string(hash);
}

// Hosts with a folder of their own may name different folders.
std::string text_of_folder(const CheckpointOptions& checkpoints) {
  const bool is_shared = checkpoints.storage == CheckpointStorage::kShared;
  return is_shared ? checkpoints.folder.string() : "a folder of each host";
}

// Refuses the place of a run that has begun more than `epochs` epochs. The place is `samples`
// samples into epoch `epoch`.
void require_epochs(std::uint64_t epoch, std::uint64_t samples, std::size_t epochs) {
  const bool is_between = samples == 0;
  const std::uint64_t begun = is_between ? epoch - 1 : epoch;
  if (begun <= epochs) return;
  const std::string place = is_between ? "at the end of" : base::counted_samples(samples) + " into";
  throw Error(ErrorCode::kInvalidArgument,
              "the state is " + place + " epoch " + std::to_string(begun) +
                  ", but this training run ends after epoch " + std::to_string(epochs) +
                  ": set epochs to " + std::to_string(begun) + " or more");
}

}  // namespace

std::size_t largest_micro_batch(const TrainerOptions& options) noexcept {
  if (options.accumulation_steps == 0) return 0;
  return slice_of(options.batch_size, 0, options.accumulation_steps).count;
}

TrainingLoop::TrainingLoop(Communicator& communicator, const TrainerOptions& options,
                           const SampleFacts& train, const SampleFacts& test, std::size_t sum_count)
    : communicator_(communicator),
      options_(checked(options)),
      train_(train),
      test_(test),
      sum_count_(sum_count),
      sampler_(sampler_options(communicator, train, options)),
      evaluation_order_(test.count),
      place_(place_at_start()) {
  validation_sums_.resize(sum_count + 1);
  std::iota(evaluation_order_.begin(), evaluation_order_.end(), std::uint64_t{0});
}

TrainingLoop::~TrainingLoop() = default;

TrainingLoop::Place TrainingLoop::place_at_start() const {
  Place place;
  place.world_batch = world_batch();
  place.sums.resize(sum_count_ + 1);
  place.test_sums.resize(sum_count_ + 1);
  return place;
}

// Returns the options on which all ranks must agree. Ranks with different options would wait for
// each other, or train on other data than they report. A rank may have micro-batches of its own.
ReplicaOptions TrainingLoop::replica_options() const {
  return {options_.optimizer,
          options_.buckets,
          options_.seed,
          options_.max_gradient_norm,
          {{training::kTrainingSetFact, training::to_text(train_)},
           {"test set of", training::to_text(test_), StateFit::kLoose},
           {"epochs", std::to_string(options_.epochs), StateFit::kLoose},
           {"batch size", std::to_string(options_.batch_size), StateFit::kLoose},
           {"seed", std::to_string(options_.seed)},
           {"shuffle", text_of_order(train_, options_)},
           {"final learning rate factor", base::shortest_text(options_.final_learning_rate_factor),
            StateFit::kLoose},
           {"checkpoints in", text_of_folder(options_.session.checkpoints), StateFit::kLoose},
           {"micro-batches of a batch", std::to_string(options_.accumulation_steps),
            StateFit::kNoted}}};
}

void TrainingLoop::set_validation_facts(const SampleFacts& facts) {
  training::check_agreement(communicator_, {{"validation set of", training::to_text(facts)}});
  if (facts.count == 0) throw Error(ErrorCode::kInvalidArgument, "the validation set is empty");
  validation_ = facts;
  evaluation_order_.resize(std::max(test_.count, facts.count));
  std::iota(evaluation_order_.begin(), evaluation_order_.end(), std::uint64_t{0});
}

std::unique_ptr<TrainingSession> TrainingLoop::make_session() const {
  if (options_.session.checkpoints.folder.empty()) return nullptr;
  return training::make_session(communicator_, options_.session.checkpoints);
}

void TrainingLoop::heed(TrainingSession& session) {
  if (session_ != nullptr) std::erase(wishers_, session_);
  session_ = &session;
  wishers_.push_back(&session);
}

void TrainingLoop::abort_for_hook() {
  communicator_.abort("a training hook failed: " + base::text_of_thrown("it"));
}

void TrainingLoop::require_step_at(const Place& place) const {
  const bool is_sample = place.cut_at <= place.samples && place.samples <= train_.count;
  const bool is_step =
      place.samples == train_.count || (place.samples - place.cut_at) % world_batch() == 0;
  if (place.epoch >= 1 && is_sample && is_step) {
    return require_epochs(place.epoch, place.samples, options_.epochs);
  }
  throw Error(ErrorCode::kInvalidArgument, "the state is " + base::counted_samples(place.samples) +
                                               " into epoch " + std::to_string(place.epoch) +
                                               ", where no step of this training run begins");
}

// The place comes first in a visit: if it is refused, nothing has been written. The run that saved
// the state may have had steps of another size. From the place on, steps have the size of this run.
void TrainingLoop::visit_place(StateVisitor& visitor) {
  Place place = place_;
  const std::size_t sum_count = place.sums.size();
  const std::size_t second_count = place.seconds.size();
  const std::size_t one = 1;
  if (validation_.count > 0) {
    visitor.visit_fact({.name = "validation set of", .fit = StateFit::kLoose},
                       training::to_text(validation_));
  }
  visitor.visit_counter({.name = "place/epoch"}, place.epoch);
  visitor.visit_counter({.name = "place/samples of the epoch's order"}, place.samples);
  visitor.visit_counter({.name = "place/equal steps from sample"}, place.cut_at);
  visitor.visit_counter({.name = "place/samples of a step"}, place.world_batch);
  visitor.visit_counter({.name = "place/steps of the epoch"}, place.epoch_steps);
  visitor.visit_counter({.name = "place/steps"}, place.steps);
  visitor.visit_counter({.name = "place/samples"}, place.samples_in_all);
  visitor.visit_tensor({.name = "place/score of the epoch"}, std::span(&sum_count, 1), place.sums);
  visitor.visit_tensor({.name = "place/score of the last evaluation"}, std::span(&sum_count, 1),
                       place.test_sums);
  visitor.visit_tensor({.name = "place/learning rate factor"}, std::span(&one, 1),
                       std::span(&place.learning_rate_factor, 1));
  visitor.visit_tensor(
      {.name = "place/seconds", .owner = StateOwner::kRank, .fit = StateFit::kLoose},
      std::span(&second_count, 1), place.seconds);
  if (std::exchange(place.world_batch, world_batch()) != world_batch()) {
    place.cut_at = place.samples;
  }
  require_step_at(place);
  place_ = place;  // A copy keeps the memory of the sums, to which reports refer.
}

void TrainingLoop::give_state_to(const State& state, const StateVisit& visit) {
  training::give_state(communicator_, state, visit);
  goes_on_ = true;
}

}  // namespace rota
