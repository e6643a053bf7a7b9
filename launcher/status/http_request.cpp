// Reads the head of an HTTP request strictly: refuses a request that is unclear, and does not
// guess.
#include "launcher/status/http_request.h"

#include <algorithm>
#include <optional>

namespace rota::launcher {
namespace {

constexpr int kBadRequest = 400;
constexpr int kTooLong = 431;

HttpReading refuse(std::string why, int status = kBadRequest) {
  return {HttpReading::State::kRefused, {}, status, std::move(why)};
}

// Returns whether the text has only characters of methods and of field names.
bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') || kOthers.find(c) != std::string_view::npos;
  });
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

// Returns whether the text can be a field's value. It may have bytes above 127 and tabs, but no
// other control characters.
bool is_field_text(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return static_cast<unsigned char>(c) >= ' ' ? c != '\x7f' : c == '\t'; });
}

// Takes the first line off `bytes` and returns it without its end; returns nothing if the line has
// not ended yet.
std::optional<std::string_view> take_line(std::string_view& bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Returns the host in "a:8080" or "[fd00::1]": the name or the address.
std::string host_of(std::string_view text) {
  constexpr std::string_view kSpaces = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  text = text.substr(0, text.find_last_not_of(kSpaces) + 1);
  if (!text.starts_with('[')) return std::string(text.substr(0, text.find(':')));
  text.remove_prefix(1);
  return std::string(text.substr(0, text.find(']')));
}

constexpr std::string_view kScheme = "http://";

// Returns the path of a target. In a request to a proxy, scheme and host come before the path.
std::string path_of(std::string_view target) {
  if (target.starts_with(kScheme)) {
    target.remove_prefix(std::min(target.find_first_of("/?#", kScheme.size()), target.size()));
    if (!target.starts_with('/')) return "/";
  }
  return std::string(target.substr(0, target.find_first_of("?#")));
}

// Returns the host in the target, which takes precedence over the Host field.
std::string host_in(std::string_view target) {
  if (!target.starts_with(kScheme)) return {};
  target.remove_prefix(kScheme.size());
  return host_of(target.substr(0, target.find_first_of("/?#")));
}

struct RequestLine {
  HttpRequest request;
  bool needs_host = false;  // HTTP/1.1 needs a Host field.
};

std::optional<RequestLine> read_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last == first) return std::nullopt;
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  const bool is_known = version.size() == 8 && version.starts_with("HTTP/1.") &&
                        version.back() >= '0' && version.back() <= '9';
  if (!is_known || !is_token(method) || target.empty() || !is_printable(target) ||
      target.find(' ') != std::string_view::npos) {
    return std::nullopt;
  }
  return RequestLine{{std::string(method), path_of(target), host_in(target)},
                     version.back() != '0'};
}

// A header field, such as "Host: a".
struct Field {
  std::string_view name;
  std::string_view value;
};

// Returns nothing if the line is not a field.
std::optional<Field> read_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return std::nullopt;
  if (!is_field_text(line.substr(colon + 1))) return std::nullopt;
  return Field{line.substr(0, colon), line.substr(colon + 1)};
}

bool is_host(std::string_view name) {
  constexpr std::string_view kHost = "host";
  return std::ranges::equal(name, kHost, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

HttpReading wait_for_more(std::size_t received_bytes) {
  if (received_bytes < kMaxRequestBytes) return {};
  return refuse("A request must have at most " + std::to_string(kMaxRequestBytes) + " bytes.",
                kTooLong);
}

}  // namespace

HttpReading read_http_request(std::string_view bytes) {
  const std::size_t received_bytes = bytes.size();
  bytes = bytes.substr(0, kMaxRequestBytes);
  while (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
  const std::string_view method = bytes.substr(0, bytes.find_first_of(" \r\n"));
  if (!method.empty() && !is_token(method)) return refuse("This is not HTTP.");
  const auto first_line = take_line(bytes);
  if (!first_line) return wait_for_more(received_bytes);
  auto request_line = read_request_line(*first_line);
  if (!request_line) return refuse("A request must begin with a line such as GET /livez HTTP/1.1.");
  std::size_t host_count = 0;
  for (;;) {
    const auto line = take_line(bytes);
    if (!line) return wait_for_more(received_bytes);
    if (line->empty()) break;
    const auto field = read_field(*line);
    if (!field) return refuse("A header line does not have the form NAME: VALUE.");
    if (!is_host(field->name)) continue;
    ++host_count;
    std::string& host = request_line->request.host;
    if (host.empty()) host = host_of(field->value);
  }
  if (host_count > 1 || (host_count == 0 && request_line->needs_host)) {
    return refuse("An HTTP/1.1 request must have one Host header.");
  }
  return {HttpReading::State::kComplete, request_line->request, 0, {}};
}

}  // namespace rota::launcher
