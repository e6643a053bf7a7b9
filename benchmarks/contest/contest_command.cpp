// `rota-bench contest`: turns rows into the tables of a page, and a picture.
#include "commands.h"

#include <cxxopts.hpp>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "contest/preparation.h"
#include "contest/report.h"

namespace rota::bench {
namespace {

constexpr int kUsageError = 2;

cxxopts::Options contest_options() {
  cxxopts::Options options(
      "rota-bench contest",
      "Reads rows that programs printed with --json. The programs ran in turn, in several rounds.\n"
      "Prints tables in Markdown: the median of each program, and ratios taken round by round.");
  options.add_options()  //
      ("ours", "The name that is compared with the best of the others",
       cxxopts::value<std::string>()->default_value("rota shm"))  //
      ("limit", "The name that is not a peer, but the limit of the machine",
       cxxopts::value<std::string>()->default_value("limit"))  //
      ("baseline", "The name with which each other name is compared, in place of --ours",
       cxxopts::value<std::string>()->default_value(""))  //
      ("plot", "Draw the time for each size into this file, as SVG",
       cxxopts::value<std::string>())                                                      //
      ("title", "Title of the picture", cxxopts::value<std::string>()->default_value(""))  //
      ("help", "Print this help");
  return options;
}

}  // namespace

int run_contest_command(int argument_count, char** arguments) {
  auto options = contest_options();
  cxxopts::ParseResult given;
  try {
    given = options.parse(argument_count, arguments);
  } catch (const std::exception& error) {
    std::cerr << "rota-bench contest: " << error.what() << '\n';
    return kUsageError;
  }
  if (given.count("help") != 0) {
    std::cout << options.help() << '\n';
    return 0;
  }
  const Roles roles{given["ours"].as<std::string>(), given["limit"].as<std::string>(),
                    given["baseline"].as<std::string>()};
  auto contests = contests_of(read_rows(std::cin));
  borrow_out_of_place(contests, roles);
  leave_out_short_calls(contests, roles);
  check_limit(contests, roles);
  std::cout << markdown_of(contests, roles);
  if (given.count("plot") != 0) {
    const auto path = given["plot"].as<std::string>();
    std::ofstream file(path);
    file << drawing_of(contests, roles, given["title"].as<std::string>());
    if (!file.flush()) throw std::runtime_error("--plot: cannot write " + path);
  }
  return 0;
}

}  // namespace rota::bench
