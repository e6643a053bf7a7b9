// How two ends of a new connection prove to each other that they hold the same key, without any of
// it leaving them. Three messages, a few hundred bytes: the one that accepted challenges, the one
// that called says who it is and proves it, the first gives its verdict and proves itself with it.
// No socket and no clock: whoever moves the bytes also ends what takes too long.
//
//   poll for reading if !to_receive().empty(), for writing if !to_send().empty();
//   received(receive_some(socket, to_receive()));  sent(send_some(socket, to_send()));
//   then look at state().
//
// This stops strangers, not somebody who holds the wire between two members and changes what they
// say afterwards: against that stand frame seals, or encryption. Where both sides encrypt, they do
// so after the challenge, and the other two messages are bound to the stream that they made.
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

// From rank to coordinator, between ranks, from launcher to launcher.
enum class Channel : std::uint8_t { kControl = 1, kData, kHosts };

// What a side brings to a connection. Where one side encrypts and the other does not, the call is
// refused.
struct Credentials {
  Credentials(const Key& shared, bool is_on = false)  // NOLINT: implicit, as a key is enough.
      : key(shared), encrypts(is_on) {}

  Key key;
  bool encrypts;  // What follows the handshake, and most of that.
};

// What both sides read where only one encrypts, after who does.
inline constexpr std::string_view kBothOrNeither =
    "let both (--encrypt, ROTA_ENCRYPT=1) or neither";

// Who calls whom, and for what. Authenticated, but not secret.
struct Identity {
  Channel channel = Channel::kControl;
  std::array<std::byte, 16> job_id{};
  std::uint64_t incarnation = 0;  // Of the job, as the caller knows it; 0: not yet.
  std::uint64_t epoch = 0;        // Within it.
  std::uint32_t from = 0;
  std::uint32_t to = 0;

  friend bool operator==(const Identity&, const Identity&) = default;
};

// What became of a call, for programs; why() has it for people.
enum class Verdict : std::uint8_t {
  kNone,  // The connection ended before there was one.
  // What these say is proved.
  kAccepted,
  kNotNow,       // The same call may be accepted later.
  kNever,        // What the two were told differs.
  kOneEncrypts,  // Of the two.
  // What these say is not: there is no key in common, or it was never asked for.
  kOtherKey,
  kCrowded,  // Too many connections wait there from the caller's address, or from all.
};

// Tells a run of a job from one before it, which had the same name and key: drawn by the one where
// all meet, and told in its verdicts. Never 0. Throws Error kSystem.
std::uint64_t new_incarnation();

// How a host lays out the data that it sends, which goes over the wire as it lies in memory: where
// two differ, the call is refused.
struct DataFormat {
  enum class ByteOrder : std::uint8_t { kLittle = 1, kBig };

  ByteOrder byte_order =
      std::endian::native == std::endian::little ? ByteOrder::kLittle : ByteOrder::kBig;

  // To be raised when transport::Header, or what follows it, changes.
  std::uint8_t frame_version = 1;

  friend bool operator==(const DataFormat&, const DataFormat&) = default;
};

// Fresh for each connection, one a direction.
struct SessionKeys {
  Key to_peer;
  Key from_peer;
};

class Handshake {
 public:
  enum class State : std::uint8_t {
    kTalking,
    kEncrypting,  // Both are to encrypt: the stream, now; and then bind().
    kAsking,    // Who answers knows who calls, and must accept() or refuse(). Is passed over where
                // the formats of data differ, or the incarnations that both know: then the call is
                // refused already.
    kDone,      // Both hold the key, and the call was accepted. The stream is the user's.
    kRefused,   // Both hold the key, and the call was refused. why() has the reason.
    kStranger,  // The peer does not speak as one who holds the key. why() says what it does. It is
                // told no more than its farewell.
  };

  // Said before the stream ends, in plain, by who answers.
  static constexpr std::size_t kFarewellBytes = 8;
  using Farewell = std::array<std::byte, kFarewellBytes>;

  // What of a reason is sent.
  static constexpr std::size_t kMaxReasonBytes = 200;

  // For the one that connected, and for the one that accepted. All that move it on may throw Error
  // kSystem: there is no randomness, or no HMAC.
  static Handshake call(const Credentials& own, const Identity& identity,
                        const DataFormat& format = {});
  // `incarnation` is that of the answerer's job, 0 where that has none.
  static Handshake answer(const Credentials& own, std::uint64_t incarnation = 0,
                          const DataFormat& format = {});
  Handshake(Handshake&&) noexcept = default;
  Handshake& operator=(Handshake&&) noexcept = default;

  State state() const noexcept { return state_; }
  bool is_caller() const noexcept { return side_ == Side::kCaller; }
  const Key& key() const noexcept { return own_.key; }

  // What is to be sent next; empty where nothing is. sent() takes how much of it has gone.
  std::span<const std::byte> to_send() const noexcept;
  void sent(std::size_t bytes);

  // Room for what is to be received next; empty where nothing is. Never has room for more than the
  // handshake, so that what follows it stays in the socket. received() takes how much has come.
  std::span<std::byte> to_receive() noexcept;
  void received(std::size_t bytes);

  // In state kEncrypting, when the stream is encrypted: what it has of its own at both ends, which
  // goes into all proofs and keys, so that they are worth nothing on another stream.
  void bind(const Digest& stream);

  // In state kEncrypting, of who answers: the caller goes on as he is. Once he has proved himself
  // he is told that he should not.
  void stay_plain();

  // The peer does not encrypt as one who holds the key; `why` as of why().
  void give_up(std::string_view why, Verdict verdict = Verdict::kNone) {
    end(State::kStranger, verdict, why);
  }

  // Of who answers: what the caller is told about kOtherKey or kCrowded.
  Farewell farewell(Verdict verdict) const;

  // Of who calls: whether this is one. If so, it has ended the handshake.
  bool is_farewell(const Farewell& said);

  // The caller's identity, which is proved once state() has been kAsking, kDone or kRefused. Who
  // answers has yet to see whether it is for him: whether `to`, the job and the epoch are his own.
  // In state kDone the caller's has the incarnation that it was told.
  const Identity& identity() const noexcept { return identity_; }

  // In state kAsking. The state becomes kDone or kRefused when the verdict is sent. Of a longer
  // reason the first kMaxReasonBytes are sent.
  void accept();
  void refuse(Verdict verdict, std::string_view reason);

  // kNone until it is given or has come.
  Verdict verdict() const noexcept { return verdict_; }

  // In states kRefused and kStranger: the reason that was given, or what is wrong with the peer,
  // such as "it holds another key". To be put behind a colon.
  const std::string& why() const noexcept { return why_; }

  // In state kDone.
  SessionKeys session_keys() const;

 private:
  enum class Side : std::uint8_t { kCaller, kAnswerer };

  // In the order in which they are sent.
  enum Message : std::uint8_t { kChallenge, kCall, kVerdict };

  static constexpr std::size_t kAllBytes = 414;  // Of the three messages.

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
  std::optional<Digest> stream_;  // That it is bound to.
  DataFormat format_;             // This side's.
  Verdict verdict_ = Verdict::kNone;
  Identity identity_;
  std::uint64_t incarnation_ = 0;            // As this side knows it.
  std::array<std::byte, kAllBytes> said_{};  // By both sides, one message after the other.
  std::size_t moved_ = 0;                    // So much of said_ has been sent or received.
  std::string why_;
};

}  // namespace rota::auth
