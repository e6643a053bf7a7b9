// Reads and writes DNS messages as in RFC 1035. Compresses only the name of the question.
#include "testing/name_server.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <stdexcept>

#include "os/listener.h"

namespace rota::testing {
namespace {

constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kMaxDatagramBytes = 512;

enum Type : std::uint16_t { kA = 1, kText = 16, kAaaa = 28 };
enum Code : std::uint8_t { kNoError = 0, kServFail = 2, kNxDomain = 3, kRefused = 5 };

using Bytes = std::vector<std::uint8_t>;

void put(Bytes& bytes, std::size_t value) {
  bytes.push_back(static_cast<std::uint8_t>(value >> 8));
  bytes.push_back(static_cast<std::uint8_t>(value & 0xFF));
}

struct Asked {
  std::string name;
  std::uint16_t type = 0;
  std::size_t end = 0;  // End of the question, in the message.
};

std::optional<Asked> read_question(const Bytes& message) {
  Asked asked;
  std::size_t at = kHeaderBytes;
  while (at < message.size() && message[at] != 0) {
    const std::size_t bytes = message[at++];
    if (at + bytes > message.size()) return std::nullopt;
    if (!asked.name.empty()) asked.name += '.';
    for (std::size_t i = 0; i < bytes; ++i) asked.name += static_cast<char>(message[at++]);
  }
  if (at + 5 > message.size()) return std::nullopt;
  asked.type = static_cast<std::uint16_t>(message[at + 1] << 8 | message[at + 2]);
  asked.end = at + 5;
  return asked;
}

std::string text_of(const Asked& asked) {
  const char* const type = asked.type == kA ? "A " : asked.type == kAaaa ? "AAAA " : "? ";
  return type + asked.name;
}

}  // namespace

NameServer::NameServer() {
  os::Listener listener = os::listen_on_loopback();
  const os::Address address = os::parse_address(listener.address);
  streams_ = std::move(listener.socket);
  datagrams_ = os::Fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::bind(datagrams_.get(), address.get(), address.bytes()) != 0) {
    throw std::runtime_error("a name server's port is taken for datagrams");
  }
  thread_ = std::thread([this] { serve(); });
}

NameServer::~NameServer() {
  end_.wake();
  thread_.join();
}

os::Address NameServer::address() const { return os::local_address(datagrams_.get()); }

void NameServer::add_address(const std::string& name, const std::string& number) {
  Bytes data(sizeof(in6_addr));
  const bool is_sixth = number.find(':') != std::string::npos;
  if (::inet_pton(is_sixth ? AF_INET6 : AF_INET, number.c_str(), data.data()) != 1) {
    throw std::invalid_argument(number);
  }
  if (!is_sixth) data.resize(sizeof(in_addr));
  const std::lock_guard lock(mutex_);
  records_.emplace(Key{name, is_sixth ? kAaaa : kA}, std::move(data));
}

void NameServer::add_text(const std::string& name) {
  const std::lock_guard lock(mutex_);
  records_.emplace(Key{name, kText}, Bytes{0});
}

void NameServer::behave(const std::string& ending, Behaviour behaviour) {
  const std::lock_guard lock(mutex_);
  behaviours_.emplace_back(ending, behaviour);
}

void NameServer::hold(std::size_t count) { hold_count_ = count; }

void NameServer::think(std::chrono::milliseconds pause) {
  const std::lock_guard lock(mutex_);
  pause_ = pause;
}

std::vector<std::string> NameServer::questions() const {
  const std::lock_guard lock(mutex_);
  return questions_;
}

std::size_t NameServer::stream_count() const {
  const std::lock_guard lock(mutex_);
  return stream_count_;
}

void NameServer::serve() {
  os::PollSet polls;
  while (true) {
    polls.clear();
    const std::size_t end = polls.add(end_.fd(), true, false);
    const std::size_t datagram = polls.add(datagrams_.get(), true, false);
    const std::size_t stream = polls.add(streams_.get(), true, false);
    polls.wait(std::nullopt);
    if (polls.readable(end)) return;
    if (polls.readable(datagram)) serve_datagrams();
    if (polls.readable(stream)) serve_stream();
  }
}

void NameServer::serve_datagrams() {
  Bytes question(kMaxDatagramBytes);
  sockaddr_storage from{};
  socklen_t from_bytes = sizeof from;
  auto* const sender = reinterpret_cast<sockaddr*>(&from);
  const ssize_t bytes =
      ::recvfrom(datagrams_.get(), question.data(), question.size(), 0, sender, &from_bytes);
  if (bytes < static_cast<ssize_t>(kHeaderBytes)) return;
  question.resize(static_cast<std::size_t>(bytes));
  held_.push_back({std::move(question), os::Address(sender, from_bytes)});
  if (held_.size() < hold_count_) return;
  hold_count_ = 0;
  for (const Datagram& held : std::exchange(held_, {})) {
    const auto said = answer(held.bytes, false);
    if (!said) continue;
    ::sendto(datagrams_.get(), said->data(), said->size(), 0, held.sender.get(),
             held.sender.bytes());
  }
}

// Answers one question per connection. Waits one second at most for that question.
void NameServer::serve_stream() {
  const os::Fd socket(::accept4(streams_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket) return;
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::array<std::uint8_t, 2> head{};
  if (::recv(socket.get(), head.data(), head.size(), MSG_WAITALL) != 2) return;
  Bytes question(static_cast<std::size_t>(head[0] << 8 | head[1]));
  const ssize_t bytes = ::recv(socket.get(), question.data(), question.size(), MSG_WAITALL);
  if (bytes != static_cast<ssize_t>(question.size()) || question.size() < kHeaderBytes) return;
  const auto said = answer(question, true);
  if (!said) return;
  Bytes message;
  put(message, said->size());
  message.insert(message.end(), said->begin(), said->end());
  ::send(socket.get(), message.data(), message.size(), MSG_NOSIGNAL);
}

std::optional<Bytes> NameServer::answer(const Bytes& question, bool by_stream) {
  const auto asked = read_question(question);
  if (!asked) return std::nullopt;
  const std::unique_lock lock(mutex_);
  questions_.push_back(text_of(*asked));
  if (by_stream) ++stream_count_;
  Behaviour behaviour = Behaviour::kAnswers;
  for (const auto& [ending, said] : behaviours_) {
    if (asked->name.ends_with(ending)) behaviour = said;
  }
  const bool hangs_up = behaviour == Behaviour::kHangsUp && by_stream;
  if (behaviour == Behaviour::kIsSilent || hangs_up) return std::nullopt;
  std::this_thread::sleep_for(pause_);

  const auto first = records_.lower_bound({asked->name, 0});
  std::uint8_t code =
      first != records_.end() && first->first.first == asked->name ? kNoError : kNxDomain;
  if (behaviour == Behaviour::kFails) code = kServFail;
  if (behaviour == Behaviour::kRefuses) code = kRefused;
  const auto [begin, end] = records_.equal_range({asked->name, asked->type});
  const auto count = code == kNoError ? static_cast<std::size_t>(std::distance(begin, end)) : 0;

  // The answer repeats the number and the question. Its flags say: a reply, recursion available.
  Bytes said(question.begin(), question.begin() + static_cast<std::ptrdiff_t>(asked->end));
  said[2] = 0x81;
  said[3] = static_cast<std::uint8_t>(0x80 | code);
  said[7] = static_cast<std::uint8_t>(count);
  said[8] = said[9] = said[10] = said[11] = 0;
  for (auto record = begin; count > 0 && record != end; ++record) {
    put(said, 0xC000 | kHeaderBytes);  // The name in the question.
    put(said, asked->type);
    put(said, 1);  // Class: internet.
    put(said, 0);  // Time to live: five seconds.
    put(said, 5);
    put(said, record->second.size());
    said.insert(said.end(), record->second.begin(), record->second.end());
  }
  const bool is_cut = behaviour == Behaviour::kHangsUp || said.size() > kMaxDatagramBytes;
  if (by_stream || !is_cut) return said;
  said.resize(asked->end);
  said[2] |= 0x02;  // Flag: the answer is cut off.
  said[7] = 0;
  return said;
}

}  // namespace rota::testing
