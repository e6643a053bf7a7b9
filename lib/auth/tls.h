// TLS 1.3 between two that hold one key: nobody has a certificate, and nothing is chosen but the
// cipher. It keeps what is said from those who listen; who is at the other end the handshake of
// handshake.h finds out, which runs inside of it and is bound to it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "auth/key.h"
#include "os/tcp_socket.h"

struct ssl_st;  // OpenSSL's, as are the next two.
struct bio_st;
struct ssl_session_st;

namespace rota::auth {

// The content type with which a TLS connection begins.
inline constexpr std::byte kTlsHandshake{22};

class Tls {
 public:
  enum class Side : std::uint8_t { kCaller, kAnswerer };

  // What is read at most of somebody who has not proved himself.
  static constexpr std::size_t kMostUnprovedBytes = 4096;

  // What one key is good for is some 24 million records: RFC 8446, 5.5.
  static constexpr std::uint64_t kRecordsPerKey = std::uint64_t{1} << 22;

  // `socket` is the owner's, outlives it, and does not block. Throws Error kSystem.
  Tls(int socket, Side side, const Key& key, std::uint64_t records_per_key = kRecordsPerKey);
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;
  ~Tls();

  // Moves the beginning on, until is_ready(); false where it has failed.
  bool shake_hands();
  bool is_ready() const noexcept { return is_ready_; }
  bool wants_to_send() const noexcept;  // Before it is ready.
  bool has_heard() const noexcept { return allowance_ != kMostUnprovedBytes; }
  bool has_met_other_key() const noexcept { return has_met_other_key_; }

  // What is wrong with the peer, where it failed; empty where the connection just ended.
  const std::string& why() const noexcept { return why_; }

  // Once it is ready: what this connection has of its own, the same at both ends. Throws kSystem.
  Digest binding() const;

  // The peer has proved himself: there is no limit any more.
  void trust() noexcept { allowance_ = kNoLimit; }

  // As os::send_some and os::receive_some, but that a connection that has ended may have moved
  // something before. What was not sent has to be what is sent next.
  os::Moved send(std::span<const std::byte> first, std::span<const std::byte> second);
  os::Moved receive(std::span<std::byte> into);

  // Something has come and left the socket already, which therefore does not tell of it.
  bool has_unread() const noexcept;

 private:
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  friend struct TlsCallbacks;
  struct Free {
    void operator()(ssl_st* ssl) const noexcept;
  };

  // What OpenSSL asks for.
  int read(bio_st* bio, std::span<std::byte> into);
  int write(bio_st* bio, std::span<const std::byte> bytes);
  ssl_session_st* session() const;

  bool has_ended(int result);
  void count_record();
  std::span<const std::byte> next_record(std::span<const std::byte> first,
                                         std::span<const std::byte> second);

  int socket_;
  Key secret_;
  KeyId id_;
  std::unique_ptr<ssl_st, Free> ssl_;
  bool is_ready_ = false;
  bool is_over_ = false;
  bool has_met_other_key_ = false;
  bool lacks_memory_ = false;  // Of this host's, as the socket's last call said.
  std::size_t allowance_ = kMostUnprovedBytes;
  std::uint64_t records_per_key_;
  std::uint64_t record_count_ = 0;  // By the key that sends now.
  std::size_t refused_bytes_ = 0;   // Of the record that did not fit, and is to be given again.
  std::vector<std::byte> staged_;   // A record of two parts.
  std::string why_;
};

}  // namespace rota::auth
