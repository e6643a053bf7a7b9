// The flags, and each model's defaults.
#include "settings.h"

#include <rota/nearest_name.h>

#include <algorithm>
#include <cstdlib>
#include <cxxopts.hpp>
#include <iostream>

#include "data_folder.h"

namespace {

cxxopts::Options known_flags() {
  cxxopts::Options flags("mnist", "Trains a classifier of digits on all ranks of a job.");
  auto add = flags.allow_unrecognised_options().add_options();
  add("model", "seed, mlp or lenet", cxxopts::value<std::string>()->default_value("mlp"));
  add("data", "Folder of the four IDX files", cxxopts::value<std::string>(), "DIR");
  add("replicas", "Threads a process, each a rank", cxxopts::value<std::size_t>(), "N");
  add("epochs", "Passes over the training set", cxxopts::value<std::size_t>(), "N");
  add("batch-size", "Samples a rank and step", cxxopts::value<std::size_t>(), "N");
  add("optimizer", "sgd or adam", cxxopts::value<std::string>()->default_value("sgd"));
  add("learning-rate", "At the start", cxxopts::value<double>(), "X");
  add("momentum", "Of sgd", cxxopts::value<double>(), "X");
  add("decay-to", "Share of the learning rate that is left at the end", cxxopts::value<double>(),
      "X");
  add("seed", "Of everything random", cxxopts::value<std::uint64_t>()->default_value("1"), "N");
  add("plan", "Of every all-reduce: auto, ring, direct, star, ...",
      cxxopts::value<std::string>()->default_value("auto"), "NAME");
  add("codec", "Of gradients: identity, bf16, fp16, int8, int8-stochastic or top-k",
      cxxopts::value<std::string>()->default_value("identity"), "NAME");
  add("json", "Print JSON lines, and nothing else");
  add("help", "Print this text");
  return flags;
}

[[noreturn]] void refuse_unknown(const cxxopts::Options& known, const std::string& argument) {
  const std::size_t begin = std::min(argument.find_first_not_of('-'), argument.size());
  std::vector<std::string_view> names;
  const auto& flags = known.group_help("").options;
  names.reserve(flags.size());
  for (const auto& flag : flags) names.push_back(flag.l.front());
  const std::string nearest(rota::nearest_name(
      std::string_view(argument).substr(begin, argument.find('=') - begin), names));
  throw UsageError("unknown argument " + argument +
                   (nearest.empty() ? ": try --help" : ": did you mean --" + nearest + "?"));
}

template <class T>
void take(const cxxopts::ParseResult& flags, const char* name, T& value) {
  if (flags.count(name) > 0) value = flags[name].as<T>();
}

rota::Codec codec_of(const std::string& name) {
  const auto codec = rota::codec_named(name);
  if (codec) return *codec;
  throw UsageError("--codec " + name +
                   ": expected identity, bf16, fp16, int8, int8-stochastic or top-k");
}

struct Defaults {
  std::size_t epochs;
  rota::Sgd sgd;
  double decay_to;
};

Defaults defaults_of(const std::string& model) {
  if (model == "seed") return {20, {.learning_rate = 0.001}, 1};
  if (model == "mlp") return {6, {.learning_rate = 0.15, .momentum = 0.9}, 0};
  if (model == "lenet") return {5, {.learning_rate = 0.05, .momentum = 0.9}, 0};
  throw UsageError("--model " + model + ": expected seed, mlp or lenet");
}

rota::OptimizerOptions optimizer_of(const cxxopts::ParseResult& flags, rota::Sgd sgd) {
  const auto name = flags["optimizer"].as<std::string>();
  if (name == "sgd") {
    take(flags, "learning-rate", sgd.learning_rate);
    take(flags, "momentum", sgd.momentum);
    return sgd;
  }
  if (name != "adam") throw UsageError("--optimizer " + name + ": expected sgd or adam");
  if (flags.count("momentum") > 0) throw UsageError("--momentum is for --optimizer sgd");
  rota::Adam adam;
  take(flags, "learning-rate", adam.learning_rate);
  return adam;
}

Settings settings_of(const cxxopts::ParseResult& flags) {
  Settings settings;
  settings.model = flags["model"].as<std::string>();
  settings.data = data_folder();
  if (flags.count("data") > 0) settings.data = flags["data"].as<std::string>();
  settings.plan = flags["plan"].as<std::string>();
  settings.codec = codec_of(flags["codec"].as<std::string>());
  settings.json = flags.count("json") > 0;
  rota::TrainerOptions& trainer = settings.trainer;
  const Defaults defaults = defaults_of(settings.model);
  trainer.epochs = defaults.epochs;
  trainer.optimizer = optimizer_of(flags, defaults.sgd);
  trainer.final_learning_rate_factor = defaults.decay_to;
  trainer.seed = flags["seed"].as<std::uint64_t>();
  take(flags, "replicas", settings.replicas);
  take(flags, "epochs", trainer.epochs);
  take(flags, "batch-size", trainer.batch_size);
  take(flags, "decay-to", trainer.final_learning_rate_factor);
  return settings;
}

}  // namespace

Settings parse_settings(int argc, char** argv) {
  cxxopts::Options known = known_flags();
  try {
    const cxxopts::ParseResult flags = known.parse(argc, argv);
    if (!flags.unmatched().empty()) refuse_unknown(known, flags.unmatched().front());
    if (flags.count("help") > 0) {
      std::cout << known.help() << std::flush;
      std::exit(EXIT_SUCCESS);
    }
    return settings_of(flags);
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError(error.what());
  }
}
