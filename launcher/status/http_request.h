// The request of an HTTP client, as far as it has come: method and path, which is all that a probe
// says.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace rota::launcher {

// A request that has not ended by then is refused.
inline constexpr std::size_t kMaxRequestBytes = 4096;

struct HttpRequest {
  std::string method{};  // "GET"
  std::string path{};    // "/readyz", without a query
  std::string host{};  // Whom it is for: "a", "fd00::1", without a port; empty where it is not said
};

struct HttpReading {
  enum class State { kIncomplete, kComplete, kRefused };
  State state = State::kIncomplete;
  HttpRequest request{};  // kComplete
  int status = 0;         // kRefused: 400, 431
  std::string why{};      // kRefused: a sentence.
};

// Reads all that has come so far. HTTP/1.0 and 1.1; what follows the head is nobody's business.
HttpReading read_http_request(std::string_view bytes);

}  // namespace rota::launcher
