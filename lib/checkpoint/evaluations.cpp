// Writes and reads evaluations.jsonl:
//   {"run":"5f0c…","start":1,"step":1200,"samples":500,"sums":[61.5,480.0],"means":{"cost":0.1,…},
//    "time":1790000000.5}
#include "checkpoint/evaluations.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include <rota/error.h>

#include "base/time.h"
#include "checkpoint/file_names.h"
#include "checkpoint/run_id.h"

namespace rota::checkpoint {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kEvaluatorPause{50};

std::optional<std::uint64_t> number_in(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

std::optional<std::vector<double>> sums_in(const json& object) {
  const auto found = object.find("sums");
  if (found == object.end() || !found->is_array()) return std::nullopt;
  std::vector<double> sums;
  for (const json& sum : *found) {
    if (!sum.is_null() && !sum.is_number()) return std::nullopt;
    sums.push_back(sum.is_null() ? std::numeric_limits<double>::quiet_NaN() : sum.get<double>());
  }
  return sums;
}

void take_lock(os::LockFile& file, const std::string& path, std::chrono::milliseconds patience) {
  const base::TimePoint deadline = base::Clock::now() + patience;
  while (file.try_lock() == os::LockFile::Lock::kHeld) {
    if (base::Clock::now() >= deadline) {
      throw Error(ErrorCode::kCannotWrite,
                  path + ": another evaluator writes there, and has not ended within " +
                      base::to_text(patience) + ": a folder of checkpoints needs one evaluator");
    }
    std::this_thread::sleep_for(kEvaluatorPause);
  }
}

}  // namespace

std::string encode(const SavedEvaluation& evaluation, const Means& means) {
  nlohmann::ordered_json line = {{"run", evaluation.run},   {"start", evaluation.start},
                                 {"step", evaluation.step}, {"samples", evaluation.samples},
                                 {"sums", evaluation.sums}, {"means", means}};
  if (evaluation.time > 0) line["time"] = evaluation.time;
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<SavedEvaluation> evaluation_from(std::string_view line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  const auto run = object.find("run");
  const auto start = number_in(object, "start");
  const auto step = number_in(object, "step");
  const auto samples = number_in(object, "samples");
  const auto sums = sums_in(object);
  if (run == object.end() || !run->is_string() || !start || !step || !samples || !sums) {
    return std::nullopt;
  }
  const auto& name = run->get_ref<const std::string&>();
  if (!run_id_from(name)) return std::nullopt;
  const auto time = object.find("time");  // Lines of earlier versions have none.
  return SavedEvaluation{
      .run = name,
      .start = *start,
      .step = *step,
      .samples = *samples,
      .sums = *sums,
      .time = time != object.end() && time->is_number() ? time->get<double>() : 0};
}

EvaluationsFile::EvaluationsFile(const std::string& folder, std::chrono::milliseconds patience)
    : path_(folder + "/" + kEvaluationsName), file_(path_) {
  take_lock(file_, path_, patience);
  const std::string text = file_.read();
  unsigned long long number = 0;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos;) {
    ++number;
    auto evaluation = evaluation_from(std::string_view(text).substr(begin, end - begin));
    if (evaluation) {
      saved_.push_back(std::move(*evaluation));
    } else {
      std::fprintf(stderr, "rota: %s: line %llu is damaged, and is passed over\n", path_.c_str(),
                   number);
    }
    begin = end + 1;
  }
  bytes_ = begin;
  if (bytes_ < text.size()) file_.write("", bytes_);
}

bool EvaluationsFile::has(const std::string& run, std::uint64_t start, std::uint64_t step) const {
  return std::ranges::any_of(saved_, [&](const SavedEvaluation& each) {
    return each.step == step && each.start == start && each.run == run;
  });
}

std::vector<SavedEvaluation> EvaluationsFile::of_run(const std::string& run) const {
  std::vector<SavedEvaluation> found;
  std::ranges::copy_if(saved_, std::back_inserter(found),
                       [&](const SavedEvaluation& each) { return each.run == run; });
  return found;
}

void EvaluationsFile::add(const SavedEvaluation& evaluation, const Means& means) {
  saved_.push_back(evaluation);
  unwritten_ += encode(evaluation, means);
  flush();
}

void EvaluationsFile::flush() {
  if (unwritten_.empty()) return;
  file_.write(unwritten_, bytes_);
  bytes_ += unwritten_.size();
  unwritten_.clear();
}

std::size_t EvaluationsFile::unwritten_count() const {
  return static_cast<std::size_t>(std::ranges::count(unwritten_, '\n'));
}

}  // namespace rota::checkpoint
