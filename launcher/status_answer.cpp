// What a status port answers.
#include "launcher/status_answer.h"

#include <string_view>

namespace rota::launcher {
namespace {

using Phase = RankState::Phase;

constexpr std::size_t kMostNamed = 8;

struct Page {
  int status = 200;
  std::string text;
  std::string_view type = "text/plain; charset=utf-8";
};

std::string_view reason_of(int status) noexcept {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Unknown";
  }
}

std::string to_text(const Page& page, bool is_head) {
  std::string text = "HTTP/1.1 " + std::to_string(page.status) + " ";
  text += reason_of(page.status);
  text += "\r\nContent-Type: ";
  text += page.type;
  text += "\r\nContent-Length: " + std::to_string(page.text.size());
  if (page.status == 405) text += "\r\nAllow: GET, HEAD";
  text += "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n";
  return is_head ? text : text + page.text;
}

// "rank 2 (b) has not started", "ranks 2 (b), 3 (b) and 4 more have not started".
class Absent {
 public:
  void add(const std::string& name) {
    if (++count_ <= kMostNamed) names_ += (count_ == 1 ? "" : ", ") + name;
  }
  std::string have(const std::string& what) const {
    if (count_ == 0) return {};
    if (count_ == 1) return "rank " + names_ + " has " + what;
    const std::string more =
        count_ > kMostNamed ? " and " + std::to_string(count_ - kMostNamed) + " more" : "";
    return "ranks " + names_ + more + " have " + what;
  }

 private:
  std::size_t count_ = 0;
  std::string names_;
};

Page page_at(const std::string& path, const std::function<JobStatus()>& status) {
  if (path == "/livez") return {200, "ok"};
  if (path == "/readyz") {
    const JobStatus now = status();
    if (now.is_done) return {200, "done"};
    const std::string absence = absence_text(now);
    return absence.empty() ? Page{200, "ok"} : Page{503, absence};
  }
  if (path == "/ranks") {
    const JobStatus now = status();
    return {200, to_json(now.table, now.devices, now.states), "application/json"};
  }
  return {404, "There are /livez, /readyz and /ranks."};
}

}  // namespace

std::string absence_text(const JobStatus& status) {
  if (!status.waiting_for.empty()) return status.waiting_for;
  Absent starting;
  Absent failed;
  for (std::size_t rank = 0; rank < status.states.size(); ++rank) {
    const RankState& state = status.states[rank];
    const std::string name = std::to_string(rank) + " (" + status.table.rows[rank].host + ")";
    if (state.phase == Phase::kStarting) starting.add(name);
    if (state.phase == Phase::kEnded && state.exit_code != 0) failed.add(name);
  }
  const std::string late = starting.have("not started");
  const std::string gone = failed.have("failed");
  return late + (late.empty() || gone.empty() ? "" : ", and ") + gone;
}

std::string answer(const HttpReading& reading, const std::function<JobStatus()>& status) {
  if (reading.state == HttpReading::State::kRefused) {
    return to_text({reading.status, reading.why}, false);
  }
  const bool is_head = reading.request.method == "HEAD";
  const bool may_ask = is_head || reading.request.method == "GET";
  Page page = page_at(reading.request.path, status);
  if (!may_ask && page.status != 404) page = {405, "Only GET and HEAD are answered here."};
  return to_text(page, is_head);
}

}  // namespace rota::launcher
