// `rota-bench scale-page`: turns rows into the tables of a page, and a picture.
#include "commands.h"

#include <cxxopts.hpp>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "scale/page.h"
#include "scale/verdict.h"

namespace rota::bench {
namespace {

constexpr int kUsageErrorOfPage = 2;

cxxopts::Options page_options() {
  cxxopts::Options options(
      "rota-bench scale-page",
      "Reads rows that rota-bench scale and the programs of its peers printed with --json. The\n"
      "programs ran in turn, in several rounds. Prints tables in Markdown.");
  options.add_options()  //
      ("ours", "The name with which the others are compared",
       cxxopts::value<std::string>()->default_value("rota"))  //
      ("plot", "Draw the efficiency by workers into this file, as SVG",
       cxxopts::value<std::string>())  //
      ("title", "Title of the picture",
       cxxopts::value<std::string>()->default_value("efficiency by workers"))  //
      ("help", "Print this help");
  return options;
}

}  // namespace

int run_scale_page_command(int argument_count, char** arguments) {
  auto options = page_options();
  cxxopts::ParseResult given;
  try {
    given = options.parse(argument_count, arguments);
    if (!given.unmatched().empty()) {
      throw std::invalid_argument("'" + given.unmatched().front() + "' is not an option");
    }
  } catch (const std::exception& error) {
    std::cerr << "rota-bench scale-page: " << error.what() << '\n';
    return kUsageErrorOfPage;
  }
  if (given.count("help") != 0) {
    std::cout << options.help() << '\n';
    return 0;
  }
  const std::vector<ScaleTable> tables = scale_tables_from(std::cin);
  if (tables.empty()) throw std::runtime_error("scale-page: there is no row on standard input");
  const auto ours = given["ours"].as<std::string>();
  std::cout << markdown_of(tables, ours) << verdicts_of(tables, ours);
  if (given.count("plot") == 0) return 0;
  const auto path = given["plot"].as<std::string>();
  std::ofstream file(path);
  file << drawing_of(tables, given["title"].as<std::string>());
  if (!file.flush()) throw std::runtime_error("--plot: cannot write " + path);
  return 0;
}

}  // namespace rota::bench
