// Reads the part of an HTTP client's request that has come so far: the method, the path and the
// host. A probe sends nothing else.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace rota::launcher {

// A request that has not ended after this many bytes is refused.
inline constexpr std::size_t kMaxRequestBytes = 4096;

struct HttpRequest {
  std::string method{};  // "GET"
  std::string path{};    // "/readyz", without a query
  std::string host{};    // The host asked for: "a", "fd00::1", without a port; empty if not given
};

struct HttpReading {
  enum class State { kIncomplete, kComplete, kRefused };
  State state = State::kIncomplete;
  HttpRequest request{};  // kComplete
  int status = 0;         // kRefused: 400, 431
  std::string why{};      // kRefused: a sentence.
};

// Reads a request of HTTP/1.0 or 1.1, and ignores what follows the head. `bytes`: all that has come
// so far.
HttpReading read_http_request(std::string_view bytes);

}  // namespace rota::launcher
