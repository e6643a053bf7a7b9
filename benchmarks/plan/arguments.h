// The arguments of `rota-bench plan`.
#pragma once
#include <cxxopts.hpp>
#include <string>

#include "plan/question.h"

namespace rota::bench {

inline constexpr std::size_t kMaxDrawnWorld = 64;

struct PlanArguments {
  enum class Form { kTable, kText, kSvg };

  Question question;
  Form form = Form::kTable;
  std::string output;  // Path of a file; empty: standard output.
};

cxxopts::Options plan_options();

// Throws std::exception with a sentence about an invalid argument.
PlanArguments plan_arguments_from(const cxxopts::ParseResult& given);

}  // namespace rota::bench
