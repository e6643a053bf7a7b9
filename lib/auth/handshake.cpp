// There are three messages of fixed length. Integers are big-endian; each number is a field's size
// in bytes.
//
//   header      "ROTA" | version (2) | suite (1) | message number (1);
//   challenge   header | nonce (32);
//   call        header | id of the key (8) | format (2) | kind (1) | job (16)
//                      | incarnation (8) | epoch (8) | from (4) | to (4) | nonce (32) | proof (32);
//   verdict     header | format (2) | Verdict (1) | incarnation (8)
//                      | reason, with zeros after it (200) | proof (32);
//   farewell    header, with the message number 2 + Verdict. It replaces a verdict that could not
//               be proved, so it proves nothing;
//   format      byte order (1), which is 1 for little-endian, 2 for big-endian | frames (1).
//
// A proof is the HMAC, with the key, of a label and all bytes that both sides sent before the
// proof. Each side has its own label, so a proof that is sent back to its author proves nothing.
// The nonces are drawn for this connection alone, so messages of another connection prove nothing
// on it. Any process can call, so a challenge contains nothing that is derived from the key.
//
// There is one version, and there are two suites. A suite says how proofs and keys are made, and
// how the data after the handshake is protected. Nothing is negotiated: each side states its suite
// in bytes that are proved. If the suites differ, the call fails, and the caller gets a refusal
// that is proved. So an attacker between the sides cannot make the sides use a weaker suite. In the
// suite that encrypts, TLS begins after the challenge. Proofs and keys then depend on a value of
// that TLS stream, too: the value precedes all bytes that were sent.
#include "auth/handshake.h"

#include <algorithm>
#include <concepts>
#include <vector>

#include "base/assert.h"
#include "base/byte_stream.h"
#include "os/host.h"

namespace rota::auth {
namespace {

constexpr std::string_view kMagic = "ROTA";
constexpr std::uint16_t kVersion = 1;
constexpr std::uint8_t kPlain = 1;      // HMAC-SHA256 and HKDF-SHA256, and no encryption.
constexpr std::uint8_t kEncrypted = 2;  // The same within TLS 1.3.
constexpr std::size_t kSuiteIndex = 6;

using Nonce = std::array<std::byte, 32>;

constexpr std::size_t kHeaderBytes = Handshake::kFarewellBytes;
constexpr std::size_t kKeyIdBytes = sizeof(KeyId);
constexpr std::size_t kProofBytes = sizeof(Digest);
constexpr std::size_t kFormatBytes = 2;
constexpr std::size_t kChallengeBytes = kHeaderBytes + sizeof(Nonce);
constexpr std::size_t kCallBytes = kHeaderBytes + kKeyIdBytes + kFormatBytes + 1 + 16 + 8 + 8 + 4 +
                                   4 + sizeof(Nonce) + kProofBytes;
constexpr std::size_t kVerdictBytes =
    kHeaderBytes + kFormatBytes + 1 + 8 + Handshake::kMaxReasonBytes + kProofBytes;

// The offsets of the messages in all bytes that are sent. The last offset is the end of the last
// message.
constexpr std::array<std::size_t, 4> kBounds = {
    0,
    kChallengeBytes,
    kChallengeBytes + kCallBytes,
    kChallengeBytes + kCallBytes + kVerdictBytes,
};
constexpr std::size_t kNonceOfAnswerer = kBounds[1] - sizeof(Nonce);
constexpr std::size_t kNonceOfCaller = kBounds[2] - kProofBytes - sizeof(Nonce);

// Writes fields into a message, from its beginning.
class Writer {
 public:
  explicit Writer(std::span<std::byte> message) : rest_(message) {}

  template <std::unsigned_integral T>
  void put(T value) {
    for (std::size_t i = sizeof(T); i-- > 0;) {
      rest_.front() = static_cast<std::byte>((value >> (8 * i)) & 0xff);
      rest_ = rest_.subspan(1);
    }
  }
  void put(std::span<const std::byte> bytes) {
    std::ranges::copy(bytes, rest_.begin());
    rest_ = rest_.subspan(bytes.size());
  }
  std::span<std::byte> rest() const { return rest_; }

 private:
  std::span<std::byte> rest_;
};

// Reads fields of a message that has fully arrived.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> message) : rest_(message) {}

  template <std::unsigned_integral T>
  T take() {
    T value = 0;
    for (const std::byte byte : take(sizeof(T))) {
      value = static_cast<T>(static_cast<std::uint64_t>(value) << 8 | std::to_integer<T>(byte));
    }
    return value;
  }
  std::span<const std::byte> take(std::size_t bytes) {
    const auto taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }

 private:
  std::span<const std::byte> rest_;
};

Nonce random_nonce() {
  Nonce nonce;
  os::fill_with_randomness(nonce);
  return nonce;
}

Writer begin_message(std::span<std::byte> message, std::uint8_t suite, std::uint8_t which) {
  Writer out(message);
  out.put(base::bytes_of(kMagic));
  out.put(kVersion);
  out.put(suite);
  out.put(which);
  return out;
}

// Returns what is wrong with the peer, as its header shows; empty if nothing is wrong.
std::string trouble_with(std::span<const std::byte> header, std::uint8_t expected,
                         std::uint8_t own_suite) {
  Reader in(header);
  if (!std::ranges::equal(in.take(kMagic.size()), base::bytes_of(kMagic)))
    return "it is not a rota program";
  const auto version = in.take<std::uint16_t>();
  if (version != kVersion) {
    return "it uses another version of rota: the version of its handshake is " +
           std::to_string(version) + ", ours is " + std::to_string(kVersion);
  }
  const auto suite = in.take<std::uint8_t>();
  if (suite != kPlain && suite != kEncrypted) {
    return "it authenticates in another way: its suite is " + std::to_string(suite) + ", ours is " +
           std::to_string(own_suite);
  }
  const bool is_expected = in.take<std::uint8_t>() == expected;
  return is_expected ? "" : "it sent a message out of order";
}

// Returns the message number of a farewell. It differs from the numbers of the three messages.
constexpr std::uint8_t which_is(Verdict verdict) {
  return static_cast<std::uint8_t>(2 + static_cast<std::uint8_t>(verdict));
}

constexpr const char* kCrowdedPort =
    "too many connections wait at its port without a proof of the key, from this host's address or "
    "in total: is its port flooded?";

void put(Writer& out, const DataFormat& format) {
  out.put(static_cast<std::uint8_t>(format.byte_order));
  out.put(format.frame_version);
}

DataFormat take_format(Reader& in) {
  DataFormat format;
  format.byte_order = static_cast<DataFormat::ByteOrder>(in.take<std::uint8_t>());
  format.frame_version = in.take<std::uint8_t>();
  return format;
}

// Returns why hosts of these two formats cannot send data to each other; empty if they can.
std::string trouble_between(const DataFormat& theirs, const DataFormat& ours) {
  if (theirs.byte_order != ours.byte_order) return "its host has another byte order";
  if (theirs.frame_version == ours.frame_version) return "";
  return "it uses another version of data frames: its version is " +
         std::to_string(theirs.frame_version) + ", ours is " + std::to_string(ours.frame_version);
}

// Cuts a reason to the longest length that is sent, but never inside a character.
std::string_view shortened(std::string_view reason) {
  if (reason.size() <= Handshake::kMaxReasonBytes) return reason;
  std::size_t end = Handshake::kMaxReasonBytes;
  while (end > 0 && (static_cast<unsigned char>(reason[end]) & 0xc0) == 0x80) --end;
  return reason.substr(0, end);
}

}  // namespace

std::uint64_t new_incarnation() {
  std::array<std::byte, sizeof(std::uint64_t)> drawn;
  os::fill_with_randomness(drawn);
  return std::max<std::uint64_t>(1, std::bit_cast<std::uint64_t>(drawn));
}

Handshake Handshake::call(const Credentials& own, const Identity& identity,
                          const DataFormat& format) {
  Handshake handshake(Side::kCaller, own, format);
  handshake.identity_ = identity;
  handshake.incarnation_ = identity.incarnation;
  return handshake;
}

Handshake Handshake::answer(const Credentials& own, std::uint64_t incarnation,
                            const DataFormat& format) {
  Handshake handshake(Side::kAnswerer, own, format);
  handshake.incarnation_ = incarnation;
  handshake.write_challenge();
  return handshake;
}

bool Handshake::is_speaking() const noexcept {
  return (message_ == kCall) == (side_ == Side::kCaller);
}

std::span<std::byte> Handshake::message() noexcept {
  static_assert(kAllBytes == kBounds.back());
  return std::span(said_).subspan(kBounds[message_], kBounds[message_ + 1] - kBounds[message_]);
}

std::span<const std::byte> Handshake::to_send() const noexcept {
  if (state_ != State::kTalking || !is_speaking()) return {};
  return std::span(said_).subspan(moved_, kBounds[message_ + 1] - moved_);
}

std::span<std::byte> Handshake::to_receive() noexcept {
  if (state_ != State::kTalking || is_speaking()) return {};
  return std::span(said_).subspan(moved_, kBounds[message_ + 1] - moved_);
}

void Handshake::sent(std::size_t bytes) {
  ROTA_ASSERT(bytes <= to_send().size());
  moved_ += bytes;
  if (bytes == 0 || !to_send().empty()) return;
  if (message_ == kChallenge) {
    message_ = kCall;
    if (own_.encrypts) state_ = State::kEncrypting;
  } else if (message_ == kCall) {
    message_ = kVerdict;
  } else {
    state_ = verdict_ == Verdict::kAccepted ? State::kDone : State::kRefused;
  }
}

void Handshake::received(std::size_t bytes) {
  ROTA_ASSERT(bytes <= to_receive().size());
  moved_ += bytes;
  // If the header shows a stranger, this side does not wait for the rest of the message.
  if (bytes == 0 || moved_ < kBounds[message_] + kHeaderBytes) return;
  const std::span<const std::byte> header = message().first(kHeaderBytes);
  Farewell said;
  std::ranges::copy(header, said.begin());
  if (is_farewell(said)) return;
  const std::string trouble = auth::trouble_with(header, message_, suite());
  if (!trouble.empty()) return end(State::kStranger, Verdict::kNone, trouble);
  if (to_receive().empty()) read_message();
}

void Handshake::read_message() {
  switch (message_) {
    case kChallenge:
      return read_challenge();
    case kCall:
      return read_call();
    case kVerdict:
      return read_verdict();
  }
}

void Handshake::write_challenge() {
  Writer out = begin_message(message(), suite(), kChallenge);
  out.put(random_nonce());
}

// If only one side encrypts, the call is not encrypted, so that the refusal can be proved.
void Handshake::read_challenge() {
  const bool do_encrypt = own_.encrypts && theirs() == kEncrypted;
  message_ = kCall;
  if (!do_encrypt) return write_call();
  state_ = State::kEncrypting;
}

void Handshake::bind(const Digest& stream) {
  ROTA_ASSERT(state_ == State::kEncrypting);
  stream_ = stream;
  state_ = State::kTalking;
  if (is_caller()) write_call();
}

void Handshake::stay_plain() {
  ROTA_ASSERT(state_ == State::kEncrypting && !is_caller());
  state_ = State::kTalking;
}

void Handshake::write_call() {
  Writer out = begin_message(message(), suite(), kCall);
  out.put(key_id(own_.key));
  put(out, format_);
  out.put(static_cast<std::uint8_t>(identity_.kind));
  out.put(identity_.job_id);
  out.put(identity_.incarnation);
  out.put(identity_.epoch);
  out.put(identity_.from);
  out.put(identity_.to);
  out.put(random_nonce());
  out.put(proof());
}

void Handshake::read_call() {
  Reader in(message().subspan(kHeaderBytes));
  if (!std::ranges::equal(in.take(kKeyIdBytes), key_id(own_.key))) {
    return end(State::kStranger, Verdict::kOtherKey, kHasOtherKey);
  }
  if (!is_proved()) return end(State::kStranger, Verdict::kNone, kNoProof);
  const DataFormat format = take_format(in);
  identity_.kind = static_cast<ConnectionKind>(in.take<std::uint8_t>());
  std::ranges::copy(in.take(identity_.job_id.size()), identity_.job_id.begin());
  identity_.incarnation = in.take<std::uint64_t>();
  identity_.epoch = in.take<std::uint64_t>();
  identity_.from = in.take<std::uint32_t>();
  identity_.to = in.take<std::uint32_t>();
  const Trouble trouble = trouble_with(format, identity_.incarnation);
  state_ = State::kAsking;
  if (trouble.verdict == Verdict::kAccepted) return;
  const bool may_wait = others_wait_ && trouble.verdict == Verdict::kOneEncrypts;
  refuse(may_wait ? Verdict::kNotNow : trouble.verdict, trouble.why);
}

void Handshake::accept() { write_verdict(Verdict::kAccepted, {}); }

void Handshake::refuse(Verdict verdict, std::string_view reason) {
  ROTA_ASSERT(verdict > Verdict::kAccepted && verdict <= Verdict::kOneEncrypts);
  why_ = shortened(reason);
  write_verdict(verdict, why_);
}

void Handshake::write_verdict(Verdict verdict, std::string_view reason) {
  ROTA_ASSERT(state_ == State::kAsking);
  state_ = State::kTalking;
  message_ = kVerdict;
  verdict_ = verdict;
  Writer out = begin_message(message(), suite(), kVerdict);
  put(out, format_);
  out.put(static_cast<std::uint8_t>(verdict));
  out.put(incarnation_);
  out.put(base::bytes_of(reason));
  std::ranges::copy(proof(), message().last(kProofBytes).begin());
}

void Handshake::read_verdict() {
  if (!is_proved()) return end(State::kStranger, Verdict::kNone, kNoProof);
  Reader in(message().subspan(kHeaderBytes));
  const DataFormat format = take_format(in);
  const auto verdict = static_cast<Verdict>(in.take<std::uint8_t>());
  const auto incarnation = in.take<std::uint64_t>();
  // If this side finds a problem, why() describes it in this side's words, not in the peer's.
  const Trouble trouble = trouble_with(format, incarnation);
  if (trouble.verdict != Verdict::kAccepted) {
    const bool may_wait = trouble.verdict == Verdict::kOneEncrypts && verdict == Verdict::kNotNow;
    return end(State::kRefused, may_wait ? verdict : trouble.verdict, trouble.why);
  }
  if (verdict == Verdict::kAccepted) {
    if (incarnation != 0) identity_.incarnation = incarnation;
    return end(State::kDone, verdict, {});
  }
  const auto reason = in.take(kMaxReasonBytes);
  const auto* text = reinterpret_cast<const char*>(reason.data());
  end(State::kRefused, verdict, std::string_view(text, reason.size()));
}

Handshake::Farewell Handshake::farewell(Verdict verdict) const {
  Farewell farewell{};
  begin_message(farewell, suite(), which_is(verdict));
  return farewell;
}

bool Handshake::is_farewell(const Farewell& said) {
  const auto is = [&](Verdict verdict) {
    return is_caller() && auth::trouble_with(said, which_is(verdict), suite()).empty();
  };
  if (is(Verdict::kOtherKey)) end(State::kStranger, Verdict::kOtherKey, kHasOtherKey);
  if (is(Verdict::kCrowded)) end(State::kStranger, Verdict::kCrowded, kCrowdedPort);
  return state_ == State::kStranger;
}

// Returns the proof of the message that is being written or read. The proof covers everything
// before it.
Digest Handshake::proof() const {
  const std::string_view label = message_ == kCall ? "rota/1 C" : "rota/1 S";
  return hmac_sha256(own_.key.bytes(), all_said(label, kBounds[message_ + 1] - kProofBytes));
}

// Returns the label, the value of the encrypted stream if there is one, and the first `bytes` bytes
// sent.
std::vector<std::byte> Handshake::all_said(std::string_view label, std::size_t bytes) const {
  const std::span<const std::byte> stream =
      stream_ ? std::span<const std::byte>(*stream_) : std::span<const std::byte>();
  std::vector<std::byte> all(label.size() + stream.size() + bytes);
  Writer out(all);
  out.put(base::bytes_of(label));
  out.put(stream);
  out.put(std::span(said_).first(bytes));
  return all;
}

bool Handshake::is_proved() { return are_equal(message().last(kProofBytes), proof()); }

std::uint8_t Handshake::suite() const noexcept { return own_.encrypts ? kEncrypted : kPlain; }

// Returns the suite of the message that has arrived.
std::uint8_t Handshake::theirs() noexcept {
  return std::to_integer<std::uint8_t>(message()[kSuiteIndex]);
}

// If this side encrypts, the stream must be encrypted: the statement of the peer is not enough.
Handshake::Trouble Handshake::trouble_with_encryption() {
  const bool is_encrypted = theirs() == kEncrypted && (stream_ || !own_.encrypts);
  if (is_encrypted == own_.encrypts) return {};
  return {Verdict::kOneEncrypts, (own_.encrypts ? "it does not encrypt, and this side does: "
                                                : "it encrypts, and this side does not: ") +
                                     std::string(kBothOrNeither)};
}

// A side that knows no incarnation accepts the incarnation of the other side.
Handshake::Trouble Handshake::trouble_with_incarnation(std::uint64_t theirs) const {
  if (theirs == 0 || incarnation_ == 0 || theirs == incarnation_) return {};
  return {Verdict::kNever,
          "it belongs to another incarnation of the job, which started before or after this one"};
}

// Returns the first problem with the message that has arrived.
Handshake::Trouble Handshake::trouble_with(const DataFormat& format, std::uint64_t incarnation) {
  Trouble trouble = trouble_with_encryption();
  if (trouble.verdict != Verdict::kAccepted) return trouble;
  std::string between = trouble_between(format, format_);
  if (!between.empty()) return {Verdict::kNever, std::move(between)};
  return trouble_with_incarnation(incarnation);
}

void Handshake::end(State state, Verdict verdict, std::string_view why) {
  state_ = state;
  verdict_ = verdict;
  why_ = why.substr(0, why.find('\0'));
}

SessionKeys Handshake::session_keys() const {
  ROTA_ASSERT(state_ == State::kDone);
  std::vector<std::byte> salt;
  for (const std::size_t nonce : {kNonceOfAnswerer, kNonceOfCaller}) {
    const auto bytes = std::span(said_).subspan(nonce, sizeof(Nonce));
    salt.insert(salt.end(), bytes.begin(), bytes.end());
  }
  const Digest digest = sha256(all_said({}, kAllBytes));
  const auto derive = [&](std::string_view label) {
    const auto label_bytes = base::bytes_of(label);
    std::vector<std::byte> purpose(label_bytes.begin(), label_bytes.end());
    purpose.insert(purpose.end(), digest.begin(), digest.end());
    Key key;
    hkdf_sha256(own_.key.bytes(), salt, purpose, key.bytes());
    return key;
  };
  const Key from_caller = derive("rota/1 c2s");
  const Key from_answerer = derive("rota/1 s2c");
  const bool is_caller = side_ == Side::kCaller;
  return {is_caller ? from_caller : from_answerer, is_caller ? from_answerer : from_caller};
}

}  // namespace rota::auth
