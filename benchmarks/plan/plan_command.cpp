// `rota-bench plan`: makes plans, and prints them as a table or as a drawing.
#include "commands.h"

#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>

#include "plan/arguments.h"
#include "plan/drawings.h"
#include "plan/schedule.h"
#include "plan/table.h"

namespace rota::bench {
namespace {

constexpr int kUsageError = 2;

// Returns empty if --help was given.
std::optional<PlanArguments> read(int argument_count, char** arguments) {
  auto options = plan_options();
  const auto given = options.parse(argument_count, arguments);
  if (given.count("help") == 0) return plan_arguments_from(given);
  std::cout << options.help() << '\n';
  return std::nullopt;
}

std::string answer(const PlanArguments& arguments) {
  const Question& question = arguments.question;
  const auto plans = plans_of(question);
  if (arguments.form == PlanArguments::Form::kTable) {
    return title_of(question) + "\n" + tabulate(plans);
  }
  const auto arrows = schedule(plans, input_offsets_of(question));
  return arguments.form == PlanArguments::Form::kSvg ? draw_svg(question, arrows)
                                                     : draw_text(question, arrows);
}

void write(const std::string& text, const std::string& path) {
  if (path.empty()) {
    std::cout << text;
    return;
  }
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace

int run_plan_command(int argument_count, char** arguments) {
  std::optional<PlanArguments> read_arguments;
  try {
    read_arguments = read(argument_count, arguments);
  } catch (const std::exception& error) {
    std::cerr << "rota-bench plan: " << error.what() << '\n';
    return kUsageError;
  }
  if (read_arguments) write(answer(*read_arguments), read_arguments->output);
  return 0;
}

}  // namespace rota::bench
