// Turns the exception of a piece of code into a value.
#pragma once
#include <optional>

#include <rota/error.h>

namespace rota::testing {

// Returns the error that `body` throws, if any.
template <class Body>
std::optional<Error> error_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace rota::testing
