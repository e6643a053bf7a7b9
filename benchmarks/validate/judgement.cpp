// Counts the points whose errors are allowed.
#include "validate/judgement.h"

#include <algorithm>
#include <cmath>

#include "statistics.h"

namespace rota::bench {
namespace {

constexpr double kBytesShare = 0.5;  // Of the time: then the bytes bound it.

// The first of several bounds for the same points also says which points are misses.
constexpr double kErrorIfBytes = 0.10;
constexpr double kMostErrorIfBytes = 0.25;
constexpr double kErrorOtherwise = 0.40;

Criterion criterion_of(const std::vector<ValidatedPoint>& points, bool bound_by_bytes,
                       double wanted_share, double allowed_error) {
  Criterion criterion{
      .points = bound_by_bytes ? "the bytes take at least half of the time" : "all others",
      .wanted_share = wanted_share,
      .allowed_error = allowed_error};
  for (const ValidatedPoint& point : points) {
    if (!point.is_measured() || point.is_bound_by_bytes() != bound_by_bytes) continue;
    ++criterion.judged;
    if (std::abs(point.error()) <= allowed_error) ++criterion.within;
  }
  return criterion;
}

}  // namespace

double ValidatedPoint::measured_seconds() const { return median(rounds); }

double ValidatedPoint::error() const { return predicted.seconds / measured_seconds() - 1; }

bool ValidatedPoint::is_bound_by_bytes() const {
  return predicted.cable_seconds >= kBytesShare * measured_seconds();
}

double ValidatedPoint::allowed_error() const {
  return is_bound_by_bytes() ? kErrorIfBytes : kErrorOtherwise;
}

bool ValidatedPoint::is_miss() const { return std::abs(error()) > allowed_error(); }

bool ValidatedPoint::is_unsteady() const {
  return std::ranges::max(rounds) > (1 + allowed_error()) * std::ranges::min(rounds);
}

bool Criterion::is_met() const noexcept {
  return judged > 0 && static_cast<double>(within) >= wanted_share * static_cast<double>(judged);
}

std::vector<Criterion> criteria_of(const std::vector<ValidatedPoint>& points) {
  return {criterion_of(points, true, 0.90, kErrorIfBytes),
          criterion_of(points, true, 0.98, kMostErrorIfBytes),
          criterion_of(points, false, 0.80, kErrorOtherwise)};
}

bool are_met(const std::vector<Criterion>& criteria) {
  return std::ranges::all_of(criteria, &Criterion::is_met);
}

Notice notice_of(const std::vector<Criterion>& right, const std::vector<Criterion>& wrong) {
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (right[i].is_met() && !wrong[i].is_met()) return Notice::kYes;
  }
  return are_met(right) ? Notice::kNo : Notice::kNotJudged;
}

std::vector<ValidatedPoint> validated(const std::vector<ValidationPoint>& points,
                                      const ForecastBasis& basis, const MeasuredPoints& measured) {
  std::vector<ValidatedPoint> all;
  for (const ValidationPoint& point : points) {
    ValidatedPoint& added =
        all.emplace_back(ValidatedPoint{.point = point, .predicted = forecast(point, basis)});
    const auto found = measured.find(point);
    if (found != measured.end()) added.rounds = found->second;
  }
  return all;
}

Validation validate(const std::vector<ValidationPoint>& points, const ForecastBasis& basis,
                    const MeasuredPoints& measured) {
  Validation validation{.points = validated(points, basis, measured)};
  validation.criteria = criteria_of(validation.points);
  validation.of_half_latency = notice_of(
      validation.criteria, criteria_of(validated(points, with_half_latency(basis), measured)));
  return validation;
}

}  // namespace rota::bench
