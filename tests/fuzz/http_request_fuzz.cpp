// Fuzzes requests to a status port: any bytes, whole and in parts.
#include <algorithm>

#include "fuzz/fuzz.h"
#include "launcher/status/http_request.h"
#include "launcher/status/status_answer.h"

namespace {

using namespace rota;
using State = launcher::HttpReading::State;

bool is_printable(std::string_view text) {
  for (const char c : text) {
    if (c < ' ' || c > '~') return false;
  }
  return true;
}

launcher::JobStatus one_rank() { return {.table = {.rows = {{.host = "a"}}}, .states = {{}}}; }

void require_sound(const launcher::HttpReading& reading) {
  if (reading.state == State::kIncomplete) return;
  const bool is_refused = reading.state == State::kRefused;
  fuzz::require(is_refused == (reading.status == 400 || reading.status == 431), "a refusal's code");
  fuzz::require(is_refused != reading.why.empty(), "a refusal has its reason");
  fuzz::require(is_refused != !reading.request.method.empty(), "a request has a method");
  fuzz::require(is_printable(reading.request.method), "no control gets through");
  launcher::Moment moment(one_rank);
  const std::string response = launcher::answer(reading, {.full = "a", .of_job = {}}, moment);
  fuzz::require(response.starts_with("HTTP/1.1 "), "a response is HTTP");
  fuzz::require(response.find("Unknown") == std::string::npos, "a response has a known code");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  const std::string_view text = fuzz::text_of(data, count);
  const launcher::HttpReading whole = launcher::read_http_request(text);
  require_sound(whole);
  fuzz::require(count < launcher::kMaxRequestBytes || whole.state != State::kIncomplete,
                "a request has an end");
  // A decision on the first bytes must not change when more bytes arrive.
  for (std::size_t bytes = 0; bytes < std::min(count, launcher::kMaxRequestBytes); ++bytes) {
    const launcher::HttpReading early = launcher::read_http_request(text.substr(0, bytes));
    if (early.state == State::kIncomplete) continue;
    fuzz::require(early.state == whole.state, "more bytes do not change a decision");
    fuzz::require(early.request.path == whole.request.path, "nor the path");
    break;
  }
  return 0;
}
