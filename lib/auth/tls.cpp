// Runs OpenSSL's TLS over sockets that do not block.
#include "auth/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "auth/openssl_error.h"
#include "base/byte_stream.h"
#include "os/host.h"

namespace rota::auth {
namespace {

constexpr std::size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH;

// This limit lets the event loop serve other connections too, however fast the peer is.
constexpr std::size_t kMostRecordsAtOnce = 16;

constexpr std::byte kAlert{SSL3_RT_ALERT};

// The session that holds the pre-shared key must name a cipher: this one, by its number in RFC
// 8446, B.4. Only the hash of the named cipher matters there. Both ciphers below have this hash, so
// either can be negotiated.
constexpr std::array<unsigned char, 2> kAes128GcmSha256 = {0x13, 0x01};
constexpr const char* kAesFirst = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256";
constexpr const char* kChaChaFirst = "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256";

}  // namespace

// Callbacks in the form that OpenSSL calls.
struct TlsCallbacks {
  static Tls& of(const SSL* ssl) { return *static_cast<Tls*>(SSL_get_app_data(ssl)); }
  static Tls& of(BIO* bio) { return *static_cast<Tls*>(::BIO_get_data(bio)); }

  static int read(BIO* bio, char* into, int count) {
    return of(bio).read(bio, {reinterpret_cast<std::byte*>(into), static_cast<std::size_t>(count)});
  }
  static int write(BIO* bio, const char* from, int count) {
    return of(bio).write(
        bio, {reinterpret_cast<const std::byte*>(from), static_cast<std::size_t>(count)});
  }
  static long control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }

  static int use_session(SSL* ssl, const EVP_MD* hash, const unsigned char** id,
                         std::size_t* id_bytes, SSL_SESSION** session) {
    *session = nullptr;
    const Tls& tls = of(ssl);
    if (hash && ::EVP_MD_get_type(hash) != NID_sha256) return 1;
    *id = reinterpret_cast<const unsigned char*>(tls.id_.data());
    *id_bytes = tls.id_.size();
    *session = tls.session();
    return *session ? 1 : 0;
  }

  static int find_session(SSL* ssl, const unsigned char* id, std::size_t id_bytes,
                          SSL_SESSION** session) {
    *session = nullptr;
    Tls& tls = of(ssl);
    if (are_equal(std::as_bytes(std::span(id, id_bytes)), tls.id_)) {
      *session = tls.session();
      return *session ? 1 : 0;
    }
    tls.why_ = kHasOtherKey;
    tls.has_met_other_key_ = true;
    return 1;
  }
};

namespace {

BIO_METHOD* make_method() {
  BIO_METHOD* method = ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "rota socket");
  if (!method || ::BIO_meth_set_read(method, &TlsCallbacks::read) != 1 ||
      ::BIO_meth_set_write(method, &TlsCallbacks::write) != 1 ||
      ::BIO_meth_set_ctrl(method, &TlsCallbacks::control) != 1) {
    throw_openssl_error("TLS");
  }
  return method;
}

SSL_CTX* make_context() {
  SSL_CTX* context = ::SSL_CTX_new(::TLS_method());
  const bool has_aes = os::has_aes_instructions();
  if (!context || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
      ::SSL_CTX_set_ciphersuites(context, has_aes ? kAesFirst : kChaChaFirst) != 1 ||
      ::SSL_CTX_set_num_tickets(context, 0) != 1) {
    throw_openssl_error("TLS 1.3");
  }
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  ::SSL_CTX_clear_options(context, SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
  ::SSL_CTX_set_options(context,
                        SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  // The slower of the two sides decides: an answerer with AES instructions accepts the caller's
  // order of ciphers.
  if (!has_aes) ::SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
  ::SSL_CTX_set_psk_use_session_callback(context, &TlsCallbacks::use_session);
  ::SSL_CTX_set_psk_find_session_callback(context, &TlsCallbacks::find_session);
  return context;
}

// The method is made once in a process, and never freed.
BIO* new_bio() {
  static BIO_METHOD* const kMethod = make_method();
  return ::BIO_new(kMethod);
}

SSL* new_ssl() {
  static SSL_CTX* const kContext = make_context();
  return ::SSL_new(kContext);
}

}  // namespace

void Tls::Free::operator()(ssl_st* ssl) const noexcept { ::SSL_free(ssl); }

Tls::Tls(int socket, Side side, const Key& key, std::uint64_t records_per_key)
    : socket_(socket), id_(key_id(key)), ssl_(new_ssl()), records_per_key_(records_per_key) {
  hkdf_sha256(key.bytes(), {}, base::bytes_of("rota/1 tls"), secret_.bytes());
  BIO* bio = ssl_ ? new_bio() : nullptr;
  if (!bio) throw_openssl_error("TLS");
  ::BIO_set_data(bio, this);
  ::BIO_set_init(bio, 1);
  ::SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_app_data(ssl_.get(), this);
  if (side == Side::kCaller) {
    ::SSL_set_connect_state(ssl_.get());
    ::SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, nullptr);  // Accepts no certificate.
  } else {
    ::SSL_set_accept_state(ssl_.get());
  }
}

Tls::~Tls() = default;

// Returns a session. The code that calls this function must free it.
ssl_session_st* Tls::session() const {
  SSL_SESSION* session = ::SSL_SESSION_new();
  const auto* secret = reinterpret_cast<const unsigned char*>(secret_.bytes().data());
  const SSL_CIPHER* cipher = ::SSL_CIPHER_find(ssl_.get(), kAes128GcmSha256.data());
  if (session && cipher &&
      ::SSL_SESSION_set1_master_key(session, secret, secret_.bytes().size()) == 1 &&
      ::SSL_SESSION_set_cipher(session, cipher) == 1 &&
      ::SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1) {
    return session;
  }
  ::SSL_SESSION_free(session);
  return nullptr;
}

int Tls::read(BIO* bio, std::span<std::byte> into) {
  ::BIO_clear_retry_flags(bio);
  if (allowance_ == 0) {
    why_ = "it sent too much before it proved that it holds the key";
    return 0;
  }
  const os::Moved moved = os::receive_some(socket_, into.first(std::min(into.size(), allowance_)));
  lacks_memory_ = moved.lacks_memory;
  if (moved.bytes == 0 && !moved.closed) {
    ::BIO_set_retry_read(bio);
    return -1;
  }
  if (moved.closed && is_ready_) why_ = moved.reason;
  if (allowance_ != kNoLimit) allowance_ -= moved.bytes;
  return static_cast<int>(moved.bytes);
}

// Drops alerts to a peer that has not proved itself. A write that fails would end both directions
// for OpenSSL. So OpenSSL hears that the socket is full, and can still read what the peer has sent.
int Tls::write(BIO* bio, std::span<const std::byte> bytes) {
  ::BIO_clear_retry_flags(bio);
  if (!is_ready_ && bytes.front() == kAlert) return static_cast<int>(bytes.size());
  const os::Moved moved = os::send_some(socket_, bytes, {});
  lacks_memory_ = moved.lacks_memory;
  if (moved.bytes > 0) return static_cast<int>(moved.bytes);
  has_lost_writes_ = moved.closed && is_ready_;
  if (has_lost_writes_) why_ = moved.reason;
  if (!moved.closed || has_lost_writes_) ::BIO_set_retry_write(bio);
  return -1;
}

// Called when a call of OpenSSL has moved nothing. Returns whether no later call can move anything.
bool Tls::has_ended(int result) {
  const int error = ::SSL_get_error(ssl_.get(), result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return false;
  is_over_ = true;
  const char* reason = ::ERR_reason_error_string(::ERR_peek_error());
  ::ERR_clear_error();
  if (why_.empty() && is_ready_) {
    why_ = std::string("data from the connection cannot be decrypted: ") +
           (reason != nullptr ? reason : "the connection ended");
  }
  return true;
}

bool Tls::shake_hands() {
  if (is_ready_ || is_over_) return is_ready_;
  ::ERR_clear_error();
  const int result = ::SSL_do_handshake(ssl_.get());
  if (result != 1) return !has_ended(result);
  secret_ = Key();
  is_over_ = ::SSL_session_reused(ssl_.get()) != 1;  // The peer has another key.
  if (is_over_) why_ = kNoProof;
  is_ready_ = !is_over_;
  return is_ready_;
}

bool Tls::wants_to_send() const noexcept { return SSL_want_write(ssl_.get()); }

bool Tls::has_unread() const noexcept { return ::SSL_pending(ssl_.get()) > 0; }

Digest Tls::binding() const {
  constexpr std::string_view kLabel = "EXPORTER-rota/1";
  Digest binding;
  if (::SSL_export_keying_material(ssl_.get(), reinterpret_cast<unsigned char*>(binding.data()),
                                   binding.size(), kLabel.data(), kLabel.size(), nullptr, 0,
                                   0) != 1) {
    throw_openssl_error("TLS exporter");
  }
  return binding;
}

// A header is sent in one record with the data that follows it. A record that the socket refused is
// passed again unchanged.
std::span<const std::byte> Tls::next_record(std::span<const std::byte> first,
                                            std::span<const std::byte> second) {
  const std::size_t room = refused_bytes_ > 0 ? refused_bytes_ : kRecordBytes;
  if (first.size() >= room || second.empty()) return first.first(std::min(first.size(), room));
  if (first.empty()) return second.first(std::min(second.size(), room));
  second = second.first(std::min(second.size(), room - first.size()));
  if (staged_.empty()) staged_.resize(kRecordBytes);
  std::ranges::copy(second, std::ranges::copy(first, staged_.begin()).out);
  return std::span(staged_).first(first.size() + second.size());
}

os::Moved Tls::send(std::span<const std::byte> first, std::span<const std::byte> second) {
  os::Moved moved;
  for (std::size_t i = 0; i < kMostRecordsAtOnce && !is_over_; ++i) {
    const auto record = next_record(first, second);
    if (record.empty()) break;
    ::ERR_clear_error();
    std::size_t written = 0;
    const int result = ::SSL_write_ex(ssl_.get(), record.data(), record.size(), &written);
    if (result != 1) {
      refused_bytes_ = record.size();
      if (has_lost_writes_) return {.bytes = moved.bytes, .closed = true, .reason = why_};
      if (!has_ended(result)) return {.bytes = moved.bytes, .lacks_memory = lacks_memory_};
      break;
    }
    refused_bytes_ = 0;
    moved.bytes += written;
    const std::size_t of_first = std::min(written, first.size());
    first = first.subspan(of_first);
    second = second.subspan(written - of_first);
    count_record();
  }
  moved.closed = is_over_;
  if (is_over_) moved.reason = why_;
  return moved;
}

os::Moved Tls::receive(std::span<std::byte> into) {
  os::Moved moved;
  while (moved.bytes < into.size() && !is_over_) {
    ::ERR_clear_error();
    const auto rest = into.subspan(moved.bytes);
    std::size_t read = 0;
    const int result = ::SSL_read_ex(ssl_.get(), rest.data(), rest.size(), &read);
    if (result != 1 && !has_ended(result)) {
      return {.bytes = moved.bytes, .lacks_memory = lacks_memory_};
    }
    moved.bytes += read;
  }
  moved.closed = is_over_;
  if (is_over_) moved.reason = why_;
  return moved;
}

// OpenSSL announces the new key before the next record.
void Tls::count_record() {
  if (++record_count_ < records_per_key_) return;
  record_count_ = 0;
  if (::SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1) return;
  is_over_ = true;
  why_ = "OpenSSL cannot draw a new key";
}

}  // namespace rota::auth
