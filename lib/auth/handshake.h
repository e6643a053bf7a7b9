// Lets the two ends of a new connection prove to each other that they hold the same key, without
// sending any part of the key. There are three messages, of a few hundred bytes in total. The
// answerer, which accepted the connection, sends a challenge. The caller states and proves its
// identity. The answerer sends its verdict, which also proves the answerer. The handshake has no
// socket and no clock: the code that moves the bytes must also end a handshake that lasts too long.
//
//   poll for reading if !to_receive().empty(), for writing if !to_send().empty();
//   received(receive_some(socket, to_receive()));  sent(send_some(socket, to_send()));
//   then look at state().
//
// The handshake stops strangers. It does not stop an attacker between two members from changing
// their later data; frame seals or encryption stop this attack. If both sides encrypt, encryption
// starts after the challenge, and the other two messages are bound to the encrypted stream.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/key.h"

namespace rota::auth {

// The two sides of a connection: a rank and the coordinator, two ranks, or two launchers.
enum class ConnectionKind : std::uint8_t { kControl = 1, kData, kHosts };

// What one side brings to a connection. If only one side encrypts, the call is refused.
struct Credentials {
  Credentials(const Key& shared, bool is_on = false)  // NOLINT: implicit, as a key is enough.
      : key(shared), encrypts(is_on) {}

  Key key;
  bool encrypts;  // Encrypts the data, and most of the handshake.
};

// The end of an error message. Both sides show the message if only one side encrypts; it begins
// with which side encrypts.
inline constexpr std::string_view kBothOrNeither =
    "let both sides encrypt (--encrypt, ROTA_ENCRYPT=1), or neither";

// The caller, the called side and the purpose of a call. Authenticated, but not secret.
struct Identity {
  ConnectionKind kind = ConnectionKind::kControl;
  std::array<std::byte, 16> job_id{};
  std::uint64_t incarnation = 0;  // Of the job, as the caller knows it; 0: not known yet.
  std::uint64_t epoch = 0;        // Within the incarnation.
  std::uint32_t from = 0;
  std::uint32_t to = 0;

  friend bool operator==(const Identity&, const Identity&) = default;
};

// The outcome of a call, for programs. why() gives the outcome for people.
enum class Verdict : std::uint8_t {
  kNone,  // The connection ended before a verdict.
  // The following verdicts are proved.
  kAccepted,
  kNotNow,       // The same call may be accepted later.
  kNever,        // The same call will never be accepted: the sides disagree about the job.
  kOneEncrypts,  // Only one side encrypts.
  // The following verdicts are not proved: the sides have no common key, or no proof was asked for.
  kOtherKey,
  kCrowded,  // Too many connections wait at the answerer, from the caller's address or in total.
};

// Returns a number that distinguishes a run of a job from an earlier run with the same name and
// key. The process at the rendezvous draws the number and sends it in its verdicts. The number is
// never 0. Throws Error kSystem.
std::uint64_t new_incarnation();

// How a host lays out the data that it sends: data is sent as it is in memory. If the formats of
// two hosts differ, the call is refused.
struct DataFormat {
  enum class ByteOrder : std::uint8_t { kLittle = 1, kBig };

  ByteOrder byte_order =
      std::endian::native == std::endian::little ? ByteOrder::kLittle : ByteOrder::kBig;

  // Must be raised when transport::Header, or the data after it, changes.
  std::uint8_t frame_version = 1;

  friend bool operator==(const DataFormat&, const DataFormat&) = default;
};

// New for each connection, one key per direction.
struct SessionKeys {
  Key to_peer;
  Key from_peer;
};

class Handshake {
 public:
  enum class State : std::uint8_t {
    kTalking,
    kEncrypting,  // Encrypt the stream now, and then call bind(). If the caller does not encrypt,
                  // the answerer calls stay_plain() instead.
    kAsking,   // The answerer knows the caller, and must accept() or refuse(). Skipped if the call
               // is already refused, because encryption, data formats or known incarnations differ.
    kDone,     // Both hold the key, and the call was accepted. The stream is free for data.
    kRefused,  // Both hold the key, and the call was refused. why() has the reason.
    kStranger,  // The peer does not behave as a holder of the key; why() tells what is wrong. The
                // peer gets only a farewell.
  };

  // If the answerer cannot prove its verdict, it sends a farewell instead, which is not encrypted.
  static constexpr std::size_t kFarewellBytes = 8;
  using Farewell = std::array<std::byte, kFarewellBytes>;

  // The largest number of bytes of a reason that are sent.
  static constexpr std::size_t kMaxReasonBytes = 200;

  // call() is for the side that connected, answer() for the side that accepted. All functions that
  // advance the handshake throw Error kSystem if random bytes or HMAC are not available.
  static Handshake call(const Credentials& own, const Identity& identity,
                        const DataFormat& format = {});
  // `incarnation` is the incarnation of the answerer's job, 0 if the job has none.
  static Handshake answer(const Credentials& own, std::uint64_t incarnation = 0,
                          const DataFormat& format = {});
  // Makes an answerer refuse with kNotNow in place of kOneEncrypts: the caller may belong to a job
  // that replaces the answerer's job.
  void let_others_wait() noexcept { others_wait_ = true; }
  Handshake(Handshake&&) noexcept = default;
  Handshake& operator=(Handshake&&) noexcept = default;

  State state() const noexcept { return state_; }
  bool is_caller() const noexcept { return side_ == Side::kCaller; }

  // Returns, on the caller's side, whether bytes of the answerer have arrived.
  bool has_heard() const noexcept { return moved_ > 0; }
  const Key& key() const noexcept { return own_.key; }

  // to_send() returns the bytes to send next, perhaps none. sent() gets the number of bytes that
  // were sent.
  std::span<const std::byte> to_send() const noexcept;
  void sent(std::size_t bytes);

  // to_receive() returns room for the bytes to receive next, perhaps none. There is never room for
  // more than the handshake, so later data stays in the socket. received() gets the number of bytes
  // that arrived.
  std::span<std::byte> to_receive() noexcept;
  void received(std::size_t bytes);

  // Must be called in state kEncrypting, when the stream is encrypted. `stream` is a value that is
  // equal at both ends of this stream, and that no other stream has. All proofs and keys depend on
  // the value, so that they are worthless on another stream.
  void bind(const Digest& stream);

  // Must be called in state kEncrypting, on the answerer's side: the caller continues without
  // encryption. The call is refused once the caller has proved itself.
  void stay_plain();

  // Ends the handshake: the peer does not encrypt as a holder of the key does. `why` is as for
  // why().
  void give_up(std::string_view why, Verdict verdict = Verdict::kNone) {
    end(State::kStranger, verdict, why);
  }

  // Returns, on the answerer's side, the bytes that tell the caller kOtherKey or kCrowded.
  Farewell farewell(Verdict verdict) const;

  // Returns, on the caller's side, whether `said` is a farewell. If it is, this function has ended
  // the handshake.
  bool is_farewell(const Farewell& said);

  // Returns the caller's identity. It is proved once state() has been kAsking, kDone or kRefused.
  // The answerer must still check that the call is meant for the answerer: that `to`, the job and
  // the epoch are its own. In state kDone the identity on the caller's side has the incarnation
  // that the answerer sent.
  const Identity& identity() const noexcept { return identity_; }

  // Both functions require state kAsking. The state becomes kDone or kRefused when the verdict is
  // sent. Only the first kMaxReasonBytes of a longer reason are sent.
  void accept();
  void refuse(Verdict verdict, std::string_view reason);

  // Returns kNone until the verdict is given or has arrived.
  Verdict verdict() const noexcept { return verdict_; }

  // Returns, in states kRefused and kStranger, the reason that was given, or what is wrong with the
  // peer, such as "it holds another key". The text is meant to follow a colon.
  const std::string& why() const noexcept { return why_; }

  // Returns the keys for the data of this connection. Requires state kDone.
  SessionKeys session_keys() const;

 private:
  enum class Side : std::uint8_t { kCaller, kAnswerer };

  // The three messages, in the order in which they are sent.
  enum Message : std::uint8_t { kChallenge, kCall, kVerdict };

  static constexpr std::size_t kAllBytes = 414;  // All three messages together.

  Handshake(Side side, Credentials own, const DataFormat& format)
      : side_(side), own_(std::move(own)), format_(format) {}

  bool is_speaking() const noexcept;
  std::uint8_t suite() const noexcept;
  std::uint8_t theirs() noexcept;
  struct Trouble {
    Verdict verdict = Verdict::kAccepted;
    std::string why;
  };
  Trouble trouble_with_encryption();
  Trouble trouble_with_incarnation(std::uint64_t theirs) const;
  Trouble trouble_with(const DataFormat& format, std::uint64_t incarnation);
  std::span<std::byte> message() noexcept;
  Digest proof() const;
  std::vector<std::byte> all_said(std::string_view label, std::size_t bytes) const;
  bool is_proved();

  void write_challenge();
  void write_call();
  void write_verdict(Verdict verdict, std::string_view reason);
  void read_message();
  void read_challenge();
  void read_call();
  void read_verdict();
  void end(State state, Verdict verdict, std::string_view why);

  Side side_;
  State state_ = State::kTalking;
  Message message_ = kChallenge;
  Credentials own_;
  std::optional<Digest> stream_;  // The value of bind().
  DataFormat format_;             // Of this side.
  Verdict verdict_ = Verdict::kNone;
  Identity identity_;
  std::uint64_t incarnation_ = 0;            // As this side knows it.
  std::array<std::byte, kAllBytes> said_{};  // All messages of both sides, in order.
  std::size_t moved_ = 0;                    // Bytes of said_ sent or received so far.
  std::string why_;
  bool others_wait_ = false;  // See let_others_wait().
};

}  // namespace rota::auth
