// Parses the values of options.
#include "launcher/command/option_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include <rota/error.h>

#include "os/address.h"
#include "rendezvous/job.h"

namespace rota::launcher {
namespace {

constexpr double kMostSeconds = 1e8;

// Parses a duration such as "20" (seconds), "20s", "500ms" or "2m".
std::optional<double> to_seconds(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  const std::string_view unit(read_to, static_cast<std::size_t>(end - read_to));
  if (unit.empty() || unit == "s") return number;
  if (unit == "ms") return number / 1000;
  if (unit == "m") return number * 60;
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> to_count(std::string_view text, std::size_t most) {
  std::size_t count = 0;
  const char* end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, count);
  const bool is_good = error == std::errc() && read_to == end && count > 0 && count <= most;
  return is_good ? std::optional(count) : std::nullopt;
}

std::size_t to_rank_count(const std::string& name, const std::string& text) {
  const auto count = to_count(text, rendezvous::kMaxWorldSize);
  if (count) return *count;
  throw UsageError("--" + name + " " + text + ": the value must be a whole number from 1 to " +
                   std::to_string(rendezvous::kMaxWorldSize));
}

PortRange to_ports(const std::string& given, std::string_view text) {
  if (const auto range = base::port_range_from(text)) return *range;
  throw UsageError(given +
                   ": the value must be FIRST-LAST, two ports from 1 to 65535 in ascending order");
}

int to_descriptor(const std::string& name, const std::string& text) {
  constexpr std::size_t kFirst = 3;
  constexpr std::size_t kMost = 1 << 20;
  const auto number = to_count(text, kMost);
  if (number && *number >= kFirst) return static_cast<int>(*number);
  throw UsageError("--" + name + " " + text +
                   ": the value must be the number of a descriptor, 3 or more");
}

base::Duration to_duration(const std::string& name, const std::string& text, bool may_be_zero) {
  const auto seconds = to_seconds(text);
  if (!seconds || *seconds < 0 || *seconds > kMostSeconds || (*seconds == 0 && !may_be_zero)) {
    throw UsageError("--" + name + " " + text + ": the value must be a number of seconds " +
                     (may_be_zero ? "from 0 to" : "above 0 and up to") +
                     " 100000000, or have a unit, as in 500ms, 10s or 90m");
  }
  const auto exact = std::chrono::duration<double>(*seconds);
  const auto rounded = std::chrono::duration_cast<base::Duration>(exact);
  return *seconds > 0 ? std::max(rounded, base::Duration(1)) : rounded;
}

Variable to_variable(const std::string& text) {
  const std::size_t equals = text.find('=');
  Variable variable{text.substr(0, equals), std::nullopt};
  if (equals != std::string::npos) variable.value = text.substr(equals + 1);
  if (variable.name.empty())
    throw UsageError("-x " + text + ": the value must be NAME or NAME=VALUE");
  return variable;
}

std::string to_directory(const std::string& flag, const std::string& text) {
  if (text.empty()) throw UsageError("--" + flag + " needs a directory");
  return text;
}

std::string to_path(const std::string& flag, const std::string& text) {
  if (text.empty()) throw UsageError("--" + flag + " needs a file");
  return std::filesystem::absolute(text).lexically_normal().string();
}

std::string to_usual_form(const std::string& address) {
  if (address.starts_with(os::kLocalSign)) return address;
  const auto number = os::numeric_address({.host = address, .port = "0"});
  return number ? number->host() : address;
}

std::string to_status_address(const std::string& text) {
  std::string address = text.find(':') == std::string::npos ? "127.0.0.1:" + text : text;
  if (text.starts_with("localhost:")) address.replace(0, text.find(':'), "127.0.0.1");
  try {
    if (os::is_numeric(address)) return address;
  } catch (const Error&) {  // The text is not an address.
  }
  throw UsageError(
      "--status-port " + text +
      ": the value must be a port, or a numeric address and a port such as 0.0.0.0:8080");
}

}  // namespace rota::launcher
