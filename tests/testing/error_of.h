// What a piece of code throws, as a value.
#pragma once
#include <optional>

#include <rota/error.h>

namespace rota::testing {

// The error that `body` ends with, if any.
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
