// Reads the whole lines of a file that another process makes longer.
#include <rota/evaluations.h>

#include <array>
#include <cstdio>
#include <deque>
#include <set>
#include <span>
#include <utility>

#include <rota/error.h>

#include "base/time.h"
#include "checkpoint/evaluations.h"
#include "os/mapped_file.h"

namespace rota {

class FollowedEvaluations::Impl {
 public:
  Impl(std::filesystem::path path, std::size_t sum_count)
      : path_(std::move(path)), sum_count_(sum_count) {}

  void begin(const std::string& run, std::uint64_t taken) {
    run_ = run;
    to_skip_ = taken;
    offset_ = 0;
    line_number_ = 0;
    rest_.clear();
    found_.clear();
    known_.clear();
    failures_ = 0;
    next_look_ = base::Clock::now();
  }

  std::optional<SavedEvaluation> next() {
    if (found_.empty() && base::Clock::now() >= next_look_) {
      read();
      next_look_ = base::Clock::now() + kBetweenLooks;
    }
    if (found_.empty()) return std::nullopt;
    SavedEvaluation first = std::move(found_.front());
    found_.pop_front();
    return first;
  }

 private:
  static constexpr std::chrono::seconds kBetweenLooks{1};
  static constexpr std::size_t kPieceBytes = 4096;
  static constexpr int kMostFailures = 5;  // Of reads in a row.

  // Takes what was added to the file since the last call.
  void read() {
    try {
      const os::MappedFile file(path_.string());
      offset_ -= rest_.size();  // A line without an end may have been cut off since.
      rest_.clear();
      if (file.size() < offset_) {
        std::fprintf(stderr, "rota: %s has become shorter: it is read from its beginning\n",
                     path_.c_str());
        offset_ = line_number_ = 0;
      }
      std::array<char, kPieceBytes> piece{};
      while (const std::size_t count =
                 file.read(offset_, std::as_writable_bytes(std::span(piece)))) {
        offset_ += count;
        rest_.append(piece.data(), count);
        take_lines();
      }
      failures_ = 0;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kNotFound) return;
      // In a network file system, this may pass. The training run is worth more than this look.
      if (error.code() != ErrorCode::kSystem || ++failures_ == kMostFailures) throw;
    }
  }

  void take_lines() {
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      ++line_number_;
      take(std::string_view(rest_).substr(begin, end - begin));
    }
    rest_.erase(0, begin);
  }

  void take(std::string_view line) {
    auto evaluation = checkpoint::evaluation_from(line);
    if (!evaluation || evaluation->sums.size() != sum_count_) {
      std::fprintf(stderr,
                   "rota: %s: line %llu is no evaluation of this model, and is passed over\n",
                   path_.c_str(), static_cast<unsigned long long>(line_number_));
      return;
    }
    if (evaluation->run != run_) return;
    // A file that is read from its beginning again may have lines that were taken before.
    if (!known_.emplace(evaluation->start, evaluation->step).second) return;
    if (to_skip_ > 0) {
      --to_skip_;
      return;
    }
    found_.push_back(std::move(*evaluation));
  }

  std::filesystem::path path_;
  std::size_t sum_count_;
  std::string run_;
  std::uint64_t to_skip_ = 0;
  std::uint64_t offset_ = 0;  // Of the first byte that was not read.
  std::uint64_t line_number_ = 0;
  std::string rest_;  // The beginning of a line that has no end yet.
  std::deque<SavedEvaluation> found_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> known_;  // The start and step of each line.
  int failures_ = 0;
  base::TimePoint next_look_{};
};

FollowedEvaluations::FollowedEvaluations(std::filesystem::path path, std::size_t sum_count)
    : impl_(std::make_unique<Impl>(std::move(path), sum_count)) {}
FollowedEvaluations::~FollowedEvaluations() = default;
FollowedEvaluations::FollowedEvaluations(FollowedEvaluations&&) noexcept = default;
FollowedEvaluations& FollowedEvaluations::operator=(FollowedEvaluations&&) noexcept = default;

void FollowedEvaluations::begin(const std::string& run, std::uint64_t taken) {
  impl_->begin(run, taken);
}
std::optional<SavedEvaluation> FollowedEvaluations::next() { return impl_->next(); }

}  // namespace rota
