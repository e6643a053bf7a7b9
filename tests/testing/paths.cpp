// Paths of this build's programs and of this project's sources.
#include "testing/paths.h"

#include <cstdlib>

namespace rota::testing {
namespace {

// ./dev gpu runs tests in a folder to which it has moved programs: ROTA_MOVED_TO.
std::string inside(const std::string& built, const std::string& moved, const std::string& name) {
  const char* root = std::getenv("ROTA_MOVED_TO");
  const std::string folder = root ? root + moved : built;
  return name.empty() ? folder : folder + "/" + name;
}

}  // namespace

std::string bin_path(const std::string& name) { return inside(ROTA_BIN_DIR, "/bin", name); }

std::string test_path(const std::string& name) { return inside(ROTA_TEST_DIR, "/tests", name); }

std::string source_path(const std::string& name) {
  return inside(ROTA_SOURCE_DIR, "/source", name);
}

}  // namespace rota::testing
