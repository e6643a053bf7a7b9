// Where this build's programs and this project's sources lie.
#include "testing/paths.h"

namespace rota::testing {
namespace {

std::string inside(const std::string& folder, const std::string& name) {
  return name.empty() ? folder : folder + "/" + name;
}

}  // namespace

std::string bin_path(const std::string& name) { return inside(ROTA_BIN_DIR, name); }

std::string test_path(const std::string& name) { return inside(ROTA_TEST_DIR, name); }

std::string source_path(const std::string& name) { return inside(ROTA_SOURCE_DIR, name); }

}  // namespace rota::testing
