// A frame is accepted only once, unchanged, and in its place.
#include "auth/frame_seal.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <string_view>

#include <rota/error.h>

#include "auth/bytes.h"

namespace rota::auth {
namespace {

// The seal is an HMAC of the frame's number and the frame, so another release computes the same
// seal. HMAC has its own test.
TEST(FrameSeal, IsTheHmacOfTheNumberAndTheFrame) {
  FrameSeal seal(some_key());
  const Bytes frame = bytes_of("a frame");
  for (unsigned number = 0; number < 3; ++number) {
    const Bytes big_endian = joined({Bytes(7), counting(1, number)});
    const Digest digest = hmac_sha256(some_key().bytes(), joined({big_endian, frame}));
    EXPECT_EQ(bytes_of(seal.next_tag(frame)),
              bytes_of(std::span(digest).first<FrameSeal::kTagBytes>()));
  }
}

TEST(FrameSeal, MatchesFrameAfterFrame) {
  FrameSeal sender(some_key());
  FrameSeal receiver(some_key());
  for (std::size_t count = 0; count < 300; ++count) {
    const Bytes frame = counting(count);
    EXPECT_TRUE(receiver.matches_next(frame, sender.next_tag(frame))) << count << " bytes";
  }
}

TEST(FrameSeal, RefusesAChangeOfAnyBit) {
  const Bytes frame = bytes_of("a frame");
  const FrameSeal::Tag tag = FrameSeal(some_key()).next_tag(frame);
  for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    Bytes changed = frame;
    changed[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_FALSE(FrameSeal(some_key()).matches_next(changed, tag)) << "bit " << bit;
  }
  for (std::size_t bit = 0; bit < 8 * tag.size(); ++bit) {
    FrameSeal::Tag changed = tag;
    changed[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_FALSE(FrameSeal(some_key()).matches_next(frame, changed)) << "bit " << bit;
  }
  EXPECT_TRUE(FrameSeal(some_key()).matches_next(frame, tag));
}

TEST(FrameSeal, RefusesAFrameThatIsLongerOrShorter) {
  const Bytes frame = bytes_of("a frame");
  const FrameSeal::Tag tag = FrameSeal(some_key()).next_tag(frame);
  EXPECT_FALSE(FrameSeal(some_key()).matches_next(bytes_of("a fram"), tag));
  EXPECT_FALSE(FrameSeal(some_key()).matches_next(bytes_of("a frame "), tag));
}

TEST(FrameSeal, RefusesAFrameThatIsRepeated) {
  FrameSeal receiver(some_key());
  const Bytes frame = bytes_of("pay once");
  const FrameSeal::Tag tag = FrameSeal(some_key()).next_tag(frame);
  EXPECT_TRUE(receiver.matches_next(frame, tag));
  EXPECT_FALSE(receiver.matches_next(frame, tag));
}

TEST(FrameSeal, RefusesFramesThatChangedPlacesOrOfWhichOneIsMissing) {
  FrameSeal sender(some_key());
  sender.next_tag(bytes_of("first"));
  const FrameSeal::Tag second = sender.next_tag(bytes_of("second"));
  EXPECT_FALSE(FrameSeal(some_key()).matches_next(bytes_of("second"), second));
}

TEST(FrameSeal, RefusesTheKeyOfTheOtherDirection) {
  const Bytes frame = bytes_of("a frame");
  EXPECT_FALSE(FrameSeal(some_key(1)).matches_next(frame, FrameSeal(some_key()).next_tag(frame)));
}

TEST(FrameSeal, MatchesNothingAfterWhatItRefused) {
  FrameSeal sender(some_key());
  FrameSeal receiver(some_key());
  const Bytes frame = bytes_of("a frame");
  sender.next_tag(frame);
  EXPECT_FALSE(receiver.matches_next(frame, FrameSeal::Tag{}));
  EXPECT_FALSE(receiver.matches_next(frame, sender.next_tag(frame)));
}

// The test makes OpenSSL behave as if it allowed only certified algorithms and none were installed.
TEST(FrameSeal, SaysThatThereIsNoHmac) {
  ASSERT_EQ(::EVP_set_default_properties(nullptr, "rota=absent"), 1);
  const auto restore = [](OSSL_LIB_CTX* library) { ::EVP_set_default_properties(library, ""); };
  try {
    FrameSeal seal(some_key());
    restore(nullptr);
    FAIL() << "OpenSSL found an HMAC";
  } catch (const Error& error) {
    restore(nullptr);
    EXPECT_EQ(error.code(), ErrorCode::kSystem);
    EXPECT_TRUE(std::string_view(error.what()).starts_with("HMAC-SHA256: OpenSSL: "))
        << error.what();
  }
}

}  // namespace
}  // namespace rota::auth
