// Judges predictions by what was measured.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "validate/forecast.h"
#include "validate/measured.h"

namespace rota::bench {

// A point that is predicted to take longer is not measured.
inline constexpr double kMostPointSeconds = 2;

// A point and its prediction, which may have been measured.
struct ValidatedPoint {
  ValidationPoint point{};
  Forecast predicted{};
  std::vector<double> rounds{};  // The measured seconds of each round; empty: not measured.

  bool is_measured() const noexcept { return !rounds.empty(); }
  bool is_too_long() const noexcept { return predicted.seconds > kMostPointSeconds; }

  // The functions below require a measured point.

  double measured_seconds() const;  // The median of the rounds.

  // Returns the error as a share of what was measured. It is negative if the prediction is too
  // short.
  double error() const;

  // Returns whether the bytes on the busiest cable take at least half of the measured time.
  bool is_bound_by_bytes() const;

  // Returns the error from which on the prediction counts as a miss.
  double allowed_error() const;
  bool is_miss() const;

  // Returns whether the rounds differ from each other by more than the allowed error.
  bool is_unsteady() const;
};

// At least a share of some points must have at most an error.
struct Criterion {
  std::string points{};  // Which points, for people.
  double wanted_share = 0;
  double allowed_error = 0;
  std::size_t judged = 0;
  std::size_t within = 0;  // Of those judged.

  bool is_met() const noexcept;  // Without any point to judge, it is not met.
};

// Returns the criteria for the measured points.
std::vector<Criterion> criteria_of(const std::vector<ValidatedPoint>& points);

// Returns whether all criteria are met.
bool are_met(const std::vector<Criterion>& criteria);

// Predicts all points, and adds what was measured. Throws as forecast() does.
std::vector<ValidatedPoint> validated(const std::vector<ValidationPoint>& points,
                                      const ForecastBasis& basis, const MeasuredPoints& measured);

// What shows that predictions from a wrong basis would be noticed.
enum class Notice {
  kYes,        // The wrong basis misses a criterion that the right one meets.
  kNo,         // Both meet all criteria.
  kNotJudged,  // The right basis itself misses criteria, and the wrong one misses no other.
};

// Compares the criteria of the same points, by a right basis and by a wrong one.
Notice notice_of(const std::vector<Criterion>& right, const std::vector<Criterion>& wrong);

struct Validation {
  std::vector<ValidatedPoint> points{};
  std::vector<Criterion> criteria{};
  Notice of_half_latency = Notice::kNotJudged;  // With half of each latency.

  bool holds() const { return are_met(criteria) && of_half_latency == Notice::kYes; }
};

// Judges the predictions, and tries whether a wrong basis would be noticed. Throws as forecast()
// does.
Validation validate(const std::vector<ValidationPoint>& points, const ForecastBasis& basis,
                    const MeasuredPoints& measured);

}  // namespace rota::bench
