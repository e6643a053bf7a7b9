// Turns arguments into a Method.
#include "all_reduce/method_options.h"

#include <stdexcept>

namespace rota::bench {

cxxopts::Options method_options(const std::string& program) {
  cxxopts::Options options(program, "Times the sum of floats over all ranks.");
  options.add_options()                                                        //
      ("sizes", "In bytes, such as 4,64K,16M", cxxopts::value<std::string>())  //
      ("iterations", "Samples of each size", cxxopts::value<std::size_t>())    //
      ("json", "Print a JSON object a size")                                   //
      ("help", "Print this");
  return options;
}

Method method_from(const cxxopts::ParseResult& given) {
  Method method;
  if (given.count("sizes") != 0) method.sizes = parse_sizes(given["sizes"].as<std::string>());
  if (given.count("iterations") != 0) method.iterations = given["iterations"].as<std::size_t>();
  if (method.iterations == 0) throw std::invalid_argument("--iterations: at least 1");
  method.json = given.count("json") != 0;
  return method;
}

}  // namespace rota::bench
