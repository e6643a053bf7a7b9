// Parses the flags, and contains the defaults of each model.
#include "settings.h"

#include <rota/nearest_name.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cxxopts.hpp>
#include <iostream>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "data_folder.h"

namespace {

cxxopts::Options known_flags() {
  cxxopts::Options flags("mnist", "Trains a classifier of digits on all ranks of a job.");
  auto add = flags.allow_unrecognised_options().add_options();
  add("model", "seed, mlp or lenet", cxxopts::value<std::string>()->default_value("mlp"));
  add("data", "Folder of the four IDX files", cxxopts::value<std::string>(), "DIR");
  add("replicas", "Threads per process; each is a rank", cxxopts::value<std::string>(), "N");
  add("device", "cpu or cuda", cxxopts::value<std::string>()->default_value("cpu"));
  add("epochs", "Passes over the training set", cxxopts::value<std::string>(), "N");
  add("batch-size", "Samples per rank and step", cxxopts::value<std::string>(), "N");
  add("optimizer", "sgd or adam", cxxopts::value<std::string>()->default_value("sgd"));
  add("learning-rate", "Learning rate at the start", cxxopts::value<std::string>(), "X");
  add("momentum", "Momentum of sgd", cxxopts::value<std::string>(), "X");
  add("decay-to", "Share of the learning rate that is left at the end",
      cxxopts::value<std::string>(), "X");
  add("seed", "Seed of all random numbers", cxxopts::value<std::string>()->default_value("1"), "N");
  add("plan", "Plan of every all-reduce: auto, ring, direct, star, ...",
      cxxopts::value<std::string>()->default_value("auto"), "NAME");
  add("codec", "Codec of gradients: identity, bf16, fp16, int8, int8-stochastic or top-k",
      cxxopts::value<std::string>()->default_value("identity"), "NAME");
  add("accumulate", "Micro-batches of a rank in a step; less memory", cxxopts::value<std::string>(),
      "N");
  add("validation", "Share of the training set that is not trained on, but evaluated: 0.1",
      cxxopts::value<std::string>(), "X");
  add("evaluate", "Evaluate each new checkpoint of --checkpoint-dir, or --from, and do not train");
  add("predict", "Print the class of each image of this IDX file, by --from, and do not train",
      cxxopts::value<std::string>(), "FILE");
  add("checkpoint-dir", "Folder of checkpoints: resume from the newest, and save new ones",
      cxxopts::value<std::string>(), "DIR");
  add("checkpoint-storage",
      "shared: all hosts see the folder; per-host: each host keeps a copy in a folder of its own",
      cxxopts::value<std::string>(), "HOW");
  add("checkpoint-every", "Save every N steps, or every N seconds (30s)",
      cxxopts::value<std::string>(), "N|Ns");
  add("checkpoint-wait", "How long to wait until another job has left the folder: 120s",
      cxxopts::value<std::string>(), "Ns");
  add("keep", "Checkpoints to keep", cxxopts::value<std::string>(), "N");
  add("resume", "auto, required, never or parameters", cxxopts::value<std::string>(), "HOW");
  add("from",
      "The checkpoint to begin from if DIR has none yet; with --evaluate or --predict, a "
      "checkpoint or a safetensors file",
      cxxopts::value<std::string>(), "PATH");
  add("logdir", "Folder of curves for TensorBoard, such as logs/first",
      cxxopts::value<std::string>(), "DIR");
  add("export", "Folder in which the trained model is published as the next version",
      cxxopts::value<std::string>(), "DIR");
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

// Returns nothing if the text is no number of this type, or if something follows the number.
template <class T>
std::optional<T> number_in(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? std::optional(value) : std::nullopt;
}

// Does not leave numbers to cxxopts, which takes "0,1" as 0, and numbers that are too large as
// others.
template <class T>
void take(const cxxopts::ParseResult& flags, const char* name, T& value) {
  if (flags.count(name) == 0) return;
  const auto text = flags[name].as<std::string>();
  const std::optional<T> number = number_in<T>(text);
  if (!number) {
    std::string expected = "a number, such as 0.05";
    if constexpr (std::is_integral_v<T>) {
      expected = "a whole number from 0 to " + std::to_string(std::numeric_limits<T>::max());
    }
    throw UsageError(std::string("--") + name + " " + text + ": expected " + expected);
  }
  value = *number;
}

rota::Codec codec_of(const std::string& name) {
  const auto codec = rota::codec_named(name);
  if (codec) return *codec;
  throw UsageError("--codec " + name +
                   ": expected identity, bf16, fp16, int8, int8-stochastic or top-k");
}

std::string device_of(const std::string& name) {
  if (name == "cpu" || name == "cuda") return name;
  throw UsageError("--device " + name + ": expected cpu or cuda");
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

// Takes "200" as steps, and "30s" or "0.5s" as seconds.
void take_interval(const std::string& text, rota::CheckpointOptions& checkpoints) {
  const bool is_time = text.ends_with('s');
  const double value =
      number_in<double>(text.substr(0, text.size() - (is_time ? 1 : 0))).value_or(0);
  if (!(value > 0) || (!is_time && value != std::floor(value)) || value > 1e15) {
    throw UsageError("--checkpoint-every " + text +
                     ": expected a number of steps, such as 200, or of seconds, such as 30s");
  }
  checkpoints.every_steps = is_time ? 0 : static_cast<std::uint64_t>(value);
  checkpoints.every_seconds = is_time ? value : 0;
}

// Takes "60s" as seconds. The other ranks wait meanwhile, for CheckpointOptions::save_timeout.
void take_wait(const std::string& text, rota::CheckpointOptions& checkpoints) {
  constexpr double kMostSeconds = 500;
  const bool is_time = text.ends_with('s');
  const double value = number_in<double>(text.substr(0, text.size() - 1)).value_or(-1);
  if (!is_time || !(value >= 0 && value <= kMostSeconds)) {
    throw UsageError("--checkpoint-wait " + text + ": expected 0s to 500s, such as 60s");
  }
  checkpoints.owner_wait =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(value));
}

// Returns the images to predict, or an empty path.
std::filesystem::path predicted_of(const cxxopts::ParseResult& flags) {
  if (flags.count("predict") == 0) return {};
  if (flags.count("evaluate") > 0) throw UsageError("--predict and --evaluate: leave out one");
  if (flags.count("from") == 0) {
    throw UsageError("--predict needs --from: a checkpoint, or a safetensors file");
  }
  const auto file = flags["predict"].as<std::string>();
  if (file.empty()) throw UsageError("--predict needs the name of a file");
  return file;
}

// Returns an empty path if the flag is not there.
std::filesystem::path folder_of(const cxxopts::ParseResult& flags, const char* name) {
  if (flags.count(name) == 0) return {};
  const auto folder = flags[name].as<std::string>();
  if (folder.empty()) throw UsageError(std::string("--") + name + " needs the name of a folder");
  if (folder.find("://") != std::string::npos) {
    throw UsageError(std::string("--") + name + " " + folder +
                     ": expected a folder of a file system, and not the address of a store");
  }
  return folder;
}

rota::CheckpointOptions checkpoints_of(const cxxopts::ParseResult& flags) {
  rota::CheckpointOptions checkpoints;
  const bool trains = flags.count("evaluate") + flags.count("predict") == 0;
  const bool reads_one = !trains && flags.count("from") > 0;
  if (flags.count("from") > 0) checkpoints.from = flags["from"].as<std::string>();
  if (flags.count("checkpoint-dir") == 0) {
    if (reads_one) return checkpoints;
    for (const char* flag : {"checkpoint-storage", "checkpoint-every", "checkpoint-wait", "keep",
                             "resume", "from", "evaluate"}) {
      if (flags.count(flag) == 0) continue;
      throw UsageError(std::string("--") + flag + " needs --checkpoint-dir");
    }
    return checkpoints;
  }
  checkpoints.folder = folder_of(flags, "checkpoint-dir");
  if (flags.count("checkpoint-storage") > 0) {
    const auto name = flags["checkpoint-storage"].as<std::string>();
    const auto storage = rota::checkpoint_storage_named(name);
    if (!storage)
      throw UsageError("--checkpoint-storage " + name + ": expected shared or per-host");
    checkpoints.storage = *storage;
  }
  if (flags.count("checkpoint-every") > 0) {
    take_interval(flags["checkpoint-every"].as<std::string>(), checkpoints);
  }
  if (flags.count("checkpoint-wait") > 0) {
    take_wait(flags["checkpoint-wait"].as<std::string>(), checkpoints);
  }
  take(flags, "keep", checkpoints.keep);
  if (flags.count("resume") > 0) {
    const auto name = flags["resume"].as<std::string>();
    const auto resume = rota::resume_named(name);
    if (!resume) {
      throw UsageError("--resume " + name + ": expected auto, required, never or parameters");
    }
    checkpoints.resume = *resume;
  }
  return checkpoints;
}

Settings settings_of(const cxxopts::ParseResult& flags) {
  Settings settings;
  settings.model = flags["model"].as<std::string>();
  settings.data = data_folder();
  if (flags.count("data") > 0) settings.data = flags["data"].as<std::string>();
  settings.plan = flags["plan"].as<std::string>();
  settings.device = device_of(flags["device"].as<std::string>());
  settings.codec = codec_of(flags["codec"].as<std::string>());
  settings.logs = folder_of(flags, "logdir");
  settings.exports = folder_of(flags, "export");
  settings.json = flags.count("json") > 0;
  settings.evaluates = flags.count("evaluate") > 0;
  settings.predicted = predicted_of(flags);
  if (settings.device == "cuda" && (settings.evaluates || flags.count("predict") > 0)) {
    throw UsageError(std::string(settings.evaluates ? "--evaluate" : "--predict") +
                     " computes on the CPU: leave out --device cuda");
  }
  rota::TrainerOptions& trainer = settings.trainer;
  const Defaults defaults = defaults_of(settings.model);
  trainer.epochs = defaults.epochs;
  trainer.optimizer = optimizer_of(flags, defaults.sgd);
  trainer.final_learning_rate_factor = defaults.decay_to;
  trainer.seed = 1;
  take(flags, "seed", trainer.seed);
  take(flags, "validation", settings.validation);
  take(flags, "replicas", settings.replicas);
  take(flags, "epochs", trainer.epochs);
  take(flags, "batch-size", trainer.batch_size);
  take(flags, "decay-to", trainer.final_learning_rate_factor);
  take(flags, "accumulate", trainer.accumulation_steps);
  trainer.session.checkpoints = checkpoints_of(flags);
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
