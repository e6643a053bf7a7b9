// What an exception says, even if it is not a std::exception.
#pragma once

#include <string>

namespace rota::base {

// Returns what() of the exception that is being handled. `program` names what has thrown it, for
// exceptions that say nothing. Call it in a handler.
std::string text_of_thrown(const std::string& program);

}  // namespace rota::base
