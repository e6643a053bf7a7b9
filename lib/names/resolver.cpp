// Completes a name, and asks for the completed names, one after the other.
#include "names/resolver.h"

#include <ares.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "names/ares_channel.h"
#include "names/completion.h"
#include "names/failure.h"
#include "names/hosts_file.h"
#include "names/words.h"
#include "os/host.h"

namespace rota::names {
namespace {

// Returns the text of a file, or an empty text if there is no such file: the system's resolver
// works without the file, too.
std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns whether the name is "localhost", or ends with ".localhost". Such a name means this host,
// even if a name server says otherwise.
bool is_own_name(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  constexpr std::string_view kLocalhost = "localhost";
  if (host.size() < kLocalhost.size()) return false;
  const std::size_t begin = host.size() - kLocalhost.size();
  return same_name(host.substr(begin), kLocalhost) && (begin == 0 || host[begin - 1] == '.');
}

std::vector<os::Address> own_addresses(const std::string& port) {
  return {os::parse_address("127.0.0.1:" + port), os::parse_address("[::1]:" + port)};
}

}  // namespace

// One question to the name servers. A Question cannot move, because c-ares calls back at its
// address.
class Resolver::Question {
 public:
  Question(const std::string& name, std::string port, const Options& options)
      : port_(std::move(port)) {
    ResolvConf conf = parse_resolv_conf(text_of(options.resolv_conf), os::host_name());
    if (!options.servers.empty()) conf.servers = options.servers;
    names_ = complete(name, conf);
    failure_ = Failure(names_, conf.servers);
    if (names_.empty()) return;
    channel_.emplace(AresChannel::Options{conf.servers, conf.by_stream, options.patience});
    ask();
  }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
  ~Question() = default;

  void add_to(os::PollSet& polls) const {
    if (channel_) channel_->add_to(polls);
  }

  std::optional<base::TimePoint> next_deadline() const {
    return channel_ && !status_ ? channel_->next_deadline() : base::TimePoint{};
  }

  std::optional<Answer> advance() {
    while (channel_) {
      channel_->process();
      if (!status_) return std::nullopt;
      const int status = *std::exchange(status_, std::nullopt);
      if (!answer_.addresses.empty()) return std::move(answer_);
      failure_.add(status);
      const bool knows_another = ++asked_ < names_.size() && Failure::is_an_answer(status);
      if (!knows_another) break;
      ask();
    }
    return Answer{.failure = failure_.to_text()};
  }

 private:
  void ask() {
    ares_addrinfo_hints hints{};
    hints.ai_flags = ARES_AI_NUMERICSERV;
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    ::ares_getaddrinfo(channel_->get(), names_[asked_].c_str(), port_.c_str(), &hints,
                       &Question::take_addresses, this);
  }

  static void take_addresses(void* self, int status, int /*timeouts*/, ares_addrinfo* found) {
    if (status == ARES_EDESTRUCTION) return;
    auto& question = *static_cast<Question*>(self);
    question.status_ = status;
    if (found == nullptr) return;
    for (const auto* node = found->nodes; node != nullptr; node = node->ai_next) {
      question.answer_.addresses.emplace_back(node->ai_addr, node->ai_addrlen);
    }
    ::ares_freeaddrinfo(found);
  }

  std::string port_;
  std::vector<std::string> names_;
  std::size_t asked_ = 0;  // Index of the name that is being asked for.
  Failure failure_;
  std::optional<int> status_;  // The status of c-ares, once it has answered.
  Answer answer_;
  std::optional<AresChannel>
      channel_;  // Destroyed first, because it calls back. Empty if there is no name.
};

Resolver::Resolver(Options options) : options_(std::move(options)) {}
Resolver::Resolver(Resolver&& other) noexcept = default;
Resolver& Resolver::operator=(Resolver&& other) noexcept = default;
Resolver::~Resolver() = default;

void Resolver::ask_addresses(const std::string& address) {
  const os::HostAndPort parts = os::split_address(address);
  question_.reset();
  answer_.emplace();
  if (const auto number = os::numeric_address(parts)) {
    answer_->addresses.push_back(*number);
    return;
  }
  // No name has such a sign, so no name server is asked.
  if (const std::size_t sign = parts.host.find('%'); sign != std::string::npos) {
    answer_->failure = "this host has no interface " + parts.host.substr(sign + 1) +
                       ", so it cannot reach this address: give a name or another address";
    return;
  }
  answer_->addresses = addresses_in(text_of(options_.hosts), parts.host, parts.port);
  if (!answer_->addresses.empty()) return;
  if (is_own_name(parts.host)) {
    answer_->addresses = own_addresses(parts.port);
    return;
  }
  answer_.reset();
  question_ = std::make_unique<Question>(parts.host, parts.port, options_);
}

bool Resolver::is_asking() const noexcept { return question_ || answer_; }

void Resolver::add_to(os::PollSet& polls) const {
  if (question_) question_->add_to(polls);
}

std::optional<Answer> Resolver::advance() {
  if (answer_) return std::exchange(answer_, std::nullopt);
  if (!question_) return std::nullopt;
  auto answer = question_->advance();
  if (answer) question_.reset();
  return answer;
}

// An answer that is already known is due immediately.
std::optional<base::TimePoint> Resolver::next_deadline() const {
  if (answer_) return base::TimePoint{};
  return question_ ? question_->next_deadline() : std::nullopt;
}

Answer resolve(const std::string& address, const Options& options) {
  Resolver resolver(options);
  resolver.ask_addresses(address);
  os::PollSet polls;
  while (true) {
    if (auto answer = resolver.advance()) return std::move(*answer);
    polls.clear();
    resolver.add_to(polls);
    polls.wait(resolver.next_deadline());
  }
}

}  // namespace rota::names
