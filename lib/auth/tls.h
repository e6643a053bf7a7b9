// TLS 1.3 between two sides that hold the same key. There are no certificates, and only the cipher
// is negotiated. TLS hides the data from listeners. The handshake of handshake.h identifies the
// other end: that handshake runs inside TLS and is bound to this TLS connection.
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

struct ssl_st;  // This and the next two: types of OpenSSL.
struct bio_st;
struct ssl_session_st;

namespace rota::auth {

// The content type of the first record of a TLS connection.
inline constexpr std::byte kTlsHandshake{22};

class Tls {
 public:
  enum class Side : std::uint8_t { kCaller, kAnswerer };

  // The largest number of bytes read from a peer that has not proved itself.
  static constexpr std::size_t kMostUnprovedBytes = 4096;

  // Below the limit of about 24 million records for one key: RFC 8446, 5.5.
  static constexpr std::uint64_t kRecordsPerKey = std::uint64_t{1} << 22;

  // The owner of this object also owns `socket`, which must outlive this object and must not block.
  // Throws Error kSystem.
  Tls(int socket, Side side, const Key& key, std::uint64_t records_per_key = kRecordsPerKey);
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;
  ~Tls();

  // Advances the TLS handshake until is_ready(). Returns false if the handshake has failed.
  bool shake_hands();
  bool is_ready() const noexcept { return is_ready_; }
  bool wants_to_send() const noexcept;  // Only before is_ready().
  bool has_heard() const noexcept { return allowance_ != kMostUnprovedBytes; }
  bool has_met_other_key() const noexcept { return has_met_other_key_; }

  // Returns what is wrong with the peer, if TLS failed; empty if the connection only ended.
  const std::string& why() const noexcept { return why_; }

  // Returns a value that only this connection has, the same at both ends. Requires is_ready().
  // Throws Error kSystem.
  Digest binding() const;

  // Must be called when the peer has proved itself: the limit on unproved bytes then ends.
  void trust() noexcept { allowance_ = kNoLimit; }

  // Both functions work as os::send_some and os::receive_some do, except that a call on a
  // connection that has ended may have moved bytes before the end. The next send() must begin with
  // the bytes that were not sent. When send() has found the end, receive() still returns what the
  // peer had sent.
  os::Moved send(std::span<const std::byte> first, std::span<const std::byte> second);
  os::Moved receive(std::span<std::byte> into);

  // Returns whether received bytes have already left the socket: a poll of the socket does not show
  // these bytes.
  bool has_unread() const noexcept;

 private:
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  friend struct TlsCallbacks;
  struct Free {
    void operator()(ssl_st* ssl) const noexcept;
  };

  // OpenSSL calls these.
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
  bool has_lost_writes_ = false;  // The socket takes nothing any more, but may have bytes to read.
  bool has_met_other_key_ = false;
  bool lacks_memory_ = false;  // On this host, at the last call of the socket.
  std::size_t allowance_ = kMostUnprovedBytes;
  std::uint64_t records_per_key_;
  std::uint64_t record_count_ = 0;  // Records sent with the current key.
  std::size_t refused_bytes_ = 0;   // Size of a record that did not fit, and must be passed again.
  std::vector<std::byte> staged_;   // Joins a record of two parts.
  std::string why_;
};

}  // namespace rota::auth
