// `rota-bench scale-answers`: prints the part of the page of scaling that is predicted.
#include "commands.h"

#include <iostream>
#include <string_view>

#include "answers/page.h"

namespace rota::bench {

int run_answers_command(int argument_count, char** arguments) {
  constexpr int kUsageErrorOfAnswers = 2;
  constexpr std::string_view kHelp =
      "usage: rota-bench scale-answers [--few]\n"
      "Predicts published networks in large worlds: Horovod's benchmark of 512 GPUs, 10,000 GPUs,\n"
      "64 workers with 19 parameter servers, and how many hosts are worth it. Prints tables in\n"
      "Markdown. Takes about a minute. With --few, predicts the parameter servers alone, which\n"
      "takes seconds.\n";
  if (argument_count == 1) {
    std::cout << answers_page();
    return 0;
  }
  if (std::string_view(arguments[1]) == "--few") {
    std::cout << few_answers_page();
    return 0;
  }
  if (std::string_view(arguments[1]) == "--help") {
    std::cout << kHelp;
    return 0;
  }
  std::cerr << "rota-bench scale-answers: '" << arguments[1] << "' is not an option\n";
  return kUsageErrorOfAnswers;
}

}  // namespace rota::bench
