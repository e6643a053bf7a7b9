// Freed memory keeps no copy of a job's key. Method: operator delete looks into the memory that it
// frees. The test is a separate program, because operator delete can be replaced only for a whole
// program.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "rendezvous/job.h"

namespace {

// Compares byte by byte, without a copy of the key: the search could find that copy.
bool looks_like_the_key(const unsigned char* bytes) {
  for (unsigned i = 0; i < rota::auth::kKeyBytes; ++i) {
    if (bytes[i] != 0xa0 + i) return false;
  }
  return true;
}

std::atomic<int> copy_count{0};

void look_into(void* start) {
  if (start == nullptr) return;
  const auto* bytes = static_cast<const unsigned char*>(start);
  const std::size_t count = ::malloc_usable_size(start);
  for (std::size_t i = 0; i + rota::auth::kKeyBytes <= count; ++i) {
    if (looks_like_the_key(bytes + i)) ++copy_count;
  }
}

}  // namespace

// noinline: otherwise the compiler would see malloc and free where it knows new and delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* start = std::malloc(bytes)) return start;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* start) noexcept {
  look_into(start);
  std::free(start);
}
[[gnu::noinline]] void operator delete(void* start, std::size_t) noexcept {
  look_into(start);
  std::free(start);
}

namespace rota::rendezvous {
namespace {

Job job_with_key() {
  Job job;
  unsigned next = 0xa0;
  for (std::byte& byte : job.key.bytes()) byte = static_cast<std::byte>(next++);
  return job;
}

TEST(JobKey, StaysInTheJobAndInItsText) {
  copy_count = 0;
  const Job job = job_with_key();
  const std::string text = encode(job, {});
  const auto decoded = decode_job(text);
  EXPECT_EQ(copy_count, 0);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->job.key, job.key);
}

TEST(JobKey, IsGoneFromATextThatTravels) {
  copy_count = 0;
  const Job job = job_with_key();
  const std::string text = without_key(encode(job, {}));
  const auto decoded = decode_job(with_key(text, job.key));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->job.key, job.key);
  EXPECT_EQ(copy_count, 1);  // The copy is in the string from with_key().
}

// Checks the method: it finds a copy that stays behind.
TEST(JobKey, IsFoundWhereItStaysBehind) {
  copy_count = 0;
  { const std::string text = encode(job_with_key(), {}); }
  EXPECT_EQ(copy_count, 1);
}

}  // namespace
}  // namespace rota::rendezvous
