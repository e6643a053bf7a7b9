// Answers the status port's callers: probes of Kubernetes at /livez and /readyz, and people at
// /ranks.
#include "launcher/status/status_answer.h"

#include <algorithm>
#include <string_view>

#include "cluster/host_names.h"

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
    case 421:
      return "Misdirected Request";
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

// Collects absent ranks for a text such as "rank 2 (b) has not started", or "ranks 2 (b), 3 (b) and
// 4 more have not started".
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

// Returns whether a request is for this host. This check prevents DNS rebinding: a name that
// somebody else owns may lead to this host for a while, and a web page of that owner could then
// read the answers of this port. The owner's name may begin with a name of this host, so a name
// that continues after a name of this host is not accepted.
bool is_for_us(const std::string& host, const OwnNames& names) {
  if (host.empty() || cluster::is_address(host)) return true;
  const std::string name = cluster::to_compare(host);
  if (name == "localhost" || name == "localhost.localdomain") return true;
  const std::string full = cluster::to_compare(names.full);
  if (name.size() <= full.size() && cluster::agree(name, full)) return true;
  return std::ranges::any_of(names.of_job,
                             [&](const auto& known) { return cluster::to_compare(known) == name; });
}

Page readiness(const JobStatus& status) {
  if (status.is_done) return {200, "done"};
  const std::string absence = absence_text(status);
  return absence.empty() ? Page{200, "ok"} : Page{503, absence};
}

Page page_for(const HttpRequest& request, const OwnNames& names, Moment& moment) {
  if (!is_for_us(request.host, names)) {
    return {421,
            "The request names another host: use this host's own name or its numeric address."};
  }
  const std::string& path = request.path;
  if (path != "/livez" && path != "/readyz" && path != "/ranks") {
    return {404, "The paths are /livez, /readyz and /ranks."};
  }
  if (request.method != "GET" && request.method != "HEAD") {
    return {405, "Only GET and HEAD are answered here."};
  }
  if (path == "/livez") return {200, "ok"};
  if (path == "/readyz") return readiness(moment.status());
  return {200, moment.ranks(), "application/json"};
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

const JobStatus& Moment::status() {
  if (!status_) status_ = find_();
  return *status_;
}

const std::string& Moment::ranks() {
  if (!ranks_) ranks_ = to_json(status().table, status().devices, status().states);
  return *ranks_;
}

std::string answer(const HttpReading& reading, const OwnNames& names, Moment& moment) {
  if (reading.state == HttpReading::State::kRefused) {
    return to_text({reading.status, reading.why}, false);
  }
  return to_text(page_for(reading.request, names, moment), reading.request.method == "HEAD");
}

}  // namespace rota::launcher
