// HMAC and HKDF are compared with the vectors of their RFCs. Rota's keys are compared with the
// results of HMAC and HKDF, because another release of rota must derive the same keys.
#include "auth/key.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <rota/error.h>

#include "auth/bytes.h"
#include "auth/key_file.h"
#include "testing/core_memory.h"

namespace rota::auth {
namespace {

struct HmacVector {
  Bytes key;
  Bytes text;
  std::string_view digest;
};

TEST(HmacSha256, GivesTheVectorsOfRfc4231) {
  const HmacVector vectors[] = {
      {Bytes(20, std::byte{0x0b}), bytes_of("Hi There"),
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {bytes_of("Jefe"), bytes_of("what do ya want for nothing?"),
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {Bytes(20, std::byte{0xaa}), Bytes(50, std::byte{0xdd}),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {Bytes(131, std::byte{0xaa}),
       bytes_of("Test Using Larger Than Block-Size Key - Hash Key First"),
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
  };
  // The RFC does not have this test vector.
  EXPECT_EQ(bytes_of(hmac_sha256({}, {})),
            from_hex("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"));
  for (const HmacVector& vector : vectors) {
    EXPECT_EQ(bytes_of(hmac_sha256(vector.key, vector.text)), from_hex(vector.digest));
  }
}

struct HkdfVector {
  Bytes secret;
  Bytes salt;
  Bytes purpose;
  std::string_view derived;
};

TEST(HkdfSha256, GivesTheVectorsOfRfc5869) {
  const HkdfVector vectors[] = {
      {Bytes(22, std::byte{0x0b}), counting(13), counting(10, 0xf0),
       "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"},
      {counting(80), counting(80, 0x60), counting(80, 0xb0),
       "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
       "59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71"
       "cc30c58179ec3e87c14c01d5c1f3434f1d87"},
      {Bytes(22, std::byte{0x0b}),
       {},
       {},
       "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"},
  };
  for (const HkdfVector& vector : vectors) {
    Bytes derived(vector.derived.size() / 2);
    hkdf_sha256(vector.secret, vector.salt, vector.purpose, derived);
    EXPECT_EQ(derived, from_hex(vector.derived));
  }
}

TEST(Sha256, GivesTheVectorOfFips180) {
  EXPECT_EQ(bytes_of(sha256(bytes_of("abc"))),
            from_hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
}

TEST(JobKey, IsWhatHkdfMakesOfTheSharedKeyAndTheJob) {
  const Key key = job_key(counting(32), "job-7");
  EXPECT_EQ(bytes_of(key.bytes()),
            from_hex("d51a4f7fbd961ddada3843f52f09a234a37ae5c90b9316410655bd91b3774191"));
  EXPECT_EQ(bytes_of(key_id(key)), from_hex("4c0d40e3a8334354"));
}

TEST(JobKey, IsAnotherForAnotherJobOrAnotherSharedKey) {
  const Key key = job_key(counting(32), "job-7");
  EXPECT_EQ(key, job_key(counting(32), "job-7"));
  EXPECT_NE(key, job_key(counting(32), "job-8"));
  EXPECT_NE(key, job_key(counting(33), "job-7"));
  EXPECT_NE(key_id(key), key_id(job_key(counting(32), "job-8")));
}

TEST(JobKey, IsNotMadeOfASharedKeyThatIsTooShort) {
  try {
    job_key(counting(31), "job-7");
    FAIL() << "a key was made of 31 bytes";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(error.what(), "the shared key has 31 bytes; use at least 32 random bytes");
  }
}

TEST(Key, IsAnotherEachTimeOneIsDrawn) {
  EXPECT_NE(random_key(), random_key());
  EXPECT_NE(random_key(), Key());
}

// Looks at the bytes where the key was. The pages of keys are never given back, so the test can
// still read these bytes.
TEST(Key, LeavesNoTraceOfItself) {
  std::optional<Key> key(some_key(1));
  const std::span<const std::byte> place = key->bytes();
  ASSERT_EQ(bytes_of(place), counting(kKeyBytes, 1));
  key.reset();
  EXPECT_EQ(bytes_of(place), Bytes(kKeyBytes));
}

// Returns whether a core file would contain these bytes.
bool is_dumped(std::span<const std::byte> bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(bytes.data());
  for (const auto& mapping : rota::testing::mappings_of(::getpid())) {
    if (at >= mapping.begin && at < mapping.end) return mapping.is_dumped;
  }
  ADD_FAILURE() << "no mapping contains these bytes";
  return true;
}

TEST(Key, IsWhereNoCoreFileHasIt) {
  const Bytes elsewhere = counting(kKeyBytes);
  EXPECT_TRUE(is_dumped(elsewhere));
  std::vector<Key> many(1000, some_key(1));  // More keys than fit in a page.
  for (std::size_t i = 0; i < many.size(); i += 100) {
    many.push_back(many[i]);
    EXPECT_FALSE(is_dumped(many[i].bytes()));
    EXPECT_FALSE(is_dumped(many.back().bytes()));
    EXPECT_EQ(many.back(), some_key(1));
  }
  EXPECT_FALSE(is_dumped(SharedKey(elsewhere).bytes()));
}

// Threads store keys where other threads have freed keys.
TEST(Key, IsItsOwnWhereThreadsMakeMany) {
  std::vector<std::thread> threads;
  std::atomic<std::size_t> wrong{0};
  for (unsigned first = 0; first < 4; ++first) {
    threads.emplace_back([&wrong, first] {
      for (unsigned i = 0; i < 2000; ++i) {
        const std::vector<Key> some(1 + i % 5, some_key(first));
        for (const Key& key : some) wrong += bytes_of(key.bytes()) == counting(32, first) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
}

TEST(AreEqual, SeesADifferenceInAnyBitAndInTheLength) {
  const Bytes one = counting(32);
  EXPECT_TRUE(are_equal(one, counting(32)));
  EXPECT_TRUE(are_equal({}, {}));
  EXPECT_FALSE(are_equal(one, counting(31)));
  for (std::size_t bit = 0; bit < 8 * one.size(); ++bit) {
    Bytes other = one;
    other[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_FALSE(are_equal(one, other)) << "bit " << bit;
  }
}

}  // namespace
}  // namespace rota::auth
