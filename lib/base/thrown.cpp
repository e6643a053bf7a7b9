// Rethrows the exception that is being handled to see its type.
#include "base/thrown.h"

#include <exception>

namespace rota::base {

std::string text_of_thrown(const std::string& program) {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return program + " threw something that is not a std::exception";
  }
}

}  // namespace rota::base
