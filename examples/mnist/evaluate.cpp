// Makes an evaluator, and prints what it finds.
#include "evaluate.h"

#include <rota/evaluator.h>
#include <rota/progress.h>

#include <iostream>
#include <stdexcept>
#include <utility>

#include "models.h"

namespace {

rota::EvaluatorOptions evaluator_options(const Settings& settings, const Sets& sets,
                                         const rota::Model<float>& model) {
  const auto train = samples_of(sets.train, model, settings.trainer.batch_size, "training");
  return {.folder = settings.trainer.session.checkpoints.folder,
          .logs = settings.logs,
          .batch_size = settings.trainer.batch_size,
          .training_set = rota::SampleFacts{train.count, train.digest}};
}

}  // namespace

bool evaluate(const Settings& settings, const Sets& sets) {
  const rota::Dataset& images = sets.train.dataset();
  rota::Model<float> model(images.shape, layers_of(settings.model, images.classes));
  const rota::EvaluatorOptions options = evaluator_options(settings, sets, model);
  rota::Evaluator<float> evaluator(std::move(model), sets.validation ? *sets.validation : sets.test,
                                   options);
  const auto print = [&](const auto& report) {
    std::cout << (settings.json ? to_json(report) : to_text(report)) << std::endl;
    if (!std::cout) throw std::runtime_error("standard output cannot be written");
  };
  const auto& from = settings.trainer.session.checkpoints.from;
  if (!from.empty()) {
    print(evaluator.evaluate(from));
    return true;
  }
  const rota::EvaluatorReport report = evaluator.run(print);
  print(report);
  return report.has_ended;
}
