// Turns the statuses of c-ares into sentences that name the servers.
#include "names/failure.h"

#include <ares.h>

#include <cstdint>
#include <utility>

namespace rota::names {
namespace {

constexpr std::uint16_t kUsualPort = 53;

// Returns "a", "a and b", or "a, b and c".
std::string listed(const std::vector<std::string>& words, const std::string& last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_last = i + 1 == words.size();
    text += (i == 0 ? "" : is_last ? " " + last + " " : ", ") + words[i];
  }
  return text;
}

std::string name_of(const os::Address& server) {
  return server.port() == kUsualPort ? server.host() : server.to_text();
}

// Returns how much a status says beyond "no record". Of several statuses, the one that says most is
// reported.
int weight_of(int status) noexcept {
  switch (status) {
    case ARES_ENOTFOUND:
      return 0;
    case ARES_SUCCESS:  // The records have no address.
    case ARES_ENODATA:
      return 1;
    default:
      return 2;
  }
}

}  // namespace

Failure::Failure(std::vector<std::string> names, std::vector<os::Address> servers)
    : names_(std::move(names)), servers_(std::move(servers)), worst_(ARES_ENOTFOUND) {
  for (std::string& name : names_) {
    if (name.size() > 1) name.pop_back();  // People do not write the last dot.
  }
}

bool Failure::is_an_answer(int status) noexcept {
  return weight_of(status) < 2 || status == ARES_ESERVFAIL;
}

void Failure::add(int status) {
  ++answered_;
  if (status == ARES_SUCCESS) status = ARES_ENODATA;
  if (weight_of(status) > weight_of(worst_)) worst_ = status;
}

std::string Failure::to_text() const {
  if (names_.empty()) {
    return "it is not a valid host name, so no name server was asked: correct the name";
  }
  std::vector<std::string> who;
  for (const os::Address& server : servers_) who.push_back(name_of(server));
  const bool are_many = who.size() > 1;
  const std::string all =
      (are_many ? "the name servers " : "the name server ") + listed(who, "and");
  const std::string about =
      listed({names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(answered_)}, "and");
  const std::string from = " from " + listed(who, "or") + " for " + about + ")";
  switch (worst_) {
    case ARES_ENOTFOUND:
      return std::string(kNoRecord) + " (NXDOMAIN" + from;
    case ARES_ENODATA:
      return std::string(kNoRecord) + " (an empty answer" + from;
    case ARES_ETIMEOUT:
      return all + (are_many ? " do not answer" : " does not answer");
    case ARES_ECONNREFUSED:
      return all + (are_many ? " fail, or cannot be reached" : " cannot be reached");
    case ARES_ESERVFAIL:
      return "the name server fails (SERVFAIL" + from;
    case ARES_EREFUSED:
      return "the name server refuses to answer (REFUSED" + from;
    default:
      return std::string("the answer cannot be read (") + ::ares_strerror(worst_) + from;
  }
}

}  // namespace rota::names
