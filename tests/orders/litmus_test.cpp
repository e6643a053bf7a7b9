// The explorer finds exactly the outcomes that C++ allows, in the small programs with which memory
// models are usually described (litmus tests). If a rule of the model is left out, one of these
// programs has other outcomes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "orders/exploration.h"

namespace rota::orders {
namespace {

using Outcome = std::array<int, 4>;
using Outcomes = std::set<Outcome>;

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kSequential = std::memory_order_seq_cst;

template <class... Bodies>
void in_threads(Bodies... bodies) {
  std::array<std::thread, sizeof...(bodies)> threads{std::thread(bodies)...};
  for (std::thread& thread : threads) thread.join();
}

// Each thread stores to its place, and then looks at the place of the other.
template <std::memory_order kStores, std::memory_order kLoads, bool kFences = false>
Outcome store_buffering() {
  std::atomic<int> x{0}, y{0};
  int a = 0, b = 0;
  const auto thread = [](std::atomic<int>& own, std::atomic<int>& other, int& seen) {
    return [&] {
      own.store(1, kStores);
      if (kFences) std::atomic_thread_fence(kSequential);
      seen = other.load(kLoads);
    };
  };
  in_threads(thread(x, y, a), thread(y, x, b));
  return {a, b};
}

// A thread writes data and then a flag. Another one reads the flag and then the data.
template <std::memory_order kStores, std::memory_order kLoads, bool kFences = false>
Outcome message_passing() {
  std::atomic<int> data{0}, flag{0};
  int seen = 0, read = 0;
  in_threads(
      [&] {
        data.store(1, kRelaxed);
        if (kFences) std::atomic_thread_fence(kRelease);
        flag.store(1, kStores);
      },
      [&] {
        seen = flag.load(kLoads);
        if (kFences) std::atomic_thread_fence(kAcquire);
        read = data.load(kRelaxed);
      });
  return {seen, read};
}

// The flag passes through a read-modify-write of a third thread.
Outcome release_sequence() {
  std::atomic<int> data{0}, flag{0};
  int seen = 0, read = 0;
  in_threads(
      [&] {
        data.store(1, kRelaxed);
        flag.store(1, kRelease);
      },
      [&] { flag.fetch_add(1, kRelaxed); },
      [&] {
        seen = flag.load(kAcquire);
        read = data.load(kRelaxed);
      });
  return {seen, read};
}

// The flag is stored again, without an order.
Outcome overwritten_release() {
  std::atomic<int> data{0}, flag{0};
  int seen = 0, read = 0;
  in_threads(
      [&] {
        data.store(1, kRelaxed);
        flag.store(1, kRelease);
        flag.store(2, kRelaxed);
      },
      [&] {
        seen = flag.load(kAcquire);
        read = data.load(kRelaxed);
      });
  return {seen, read};
}

// Two threads look at two places in opposite orders (IRIW).
template <std::memory_order kStores, std::memory_order kLoads>
Outcome independent_reads() {
  std::atomic<int> x{0}, y{0};
  Outcome seen{};
  in_threads([&] { x.store(1, kStores); }, [&] { y.store(1, kStores); },
             [&] {
               seen[0] = x.load(kLoads);
               seen[1] = y.load(kLoads);
             },
             [&] {
               seen[2] = y.load(kLoads);
               seen[3] = x.load(kLoads);
             });
  return seen;
}

// Each thread looks at a place, and then stores to the other.
template <std::memory_order kLoads, std::memory_order kStores>
Outcome load_buffering() {
  std::atomic<int> x{0}, y{0};
  int a = 0, b = 0;
  const auto thread = [](std::atomic<int>& from, std::atomic<int>& to, int& seen) {
    return [&] {
      seen = from.load(kLoads);
      to.store(1, kStores);
    };
  };
  in_threads(thread(x, y, a), thread(y, x, b));
  return {a, b};
}

// What a thread has seen reaches a third thread with the flag of the second (WRC).
Outcome causality() {
  std::atomic<int> x{0}, y{0};
  Outcome seen{};
  in_threads([&] { x.store(1, kRelaxed); },
             [&] {
               seen[0] = x.load(kRelaxed);
               y.store(1, kRelease);
             },
             [&] {
               seen[1] = y.load(kAcquire);
               seen[2] = x.load(kRelaxed);
             });
  return seen;
}

Outcome reads_of_one_place() {
  std::atomic<int> x{0};
  int a = 0, b = 0;
  in_threads([&] { x.store(1, kRelaxed); },
             [&] {
               a = x.load(kRelaxed);
               b = x.load(kRelaxed);
             });
  return {a, b};
}

Outcome read_after_write() {
  std::atomic<int> x{0};
  int a = 0;
  in_threads([&] { x.store(1, kRelaxed); },
             [&] {
               x.store(2, kRelaxed);
               a = x.load(kRelaxed);
             });
  return {a, x.load(kRelaxed)};
}

Outcome write_after_read() {
  std::atomic<int> x{0};
  int a = 0;
  in_threads([&] { x.store(1, kRelaxed); },
             [&] {
               a = x.load(kRelaxed);
               x.store(2, kRelaxed);
             });
  return {a, x.load(kRelaxed)};
}

Outcome writes_of_one_place() {
  std::atomic<int> x{0};
  in_threads(
      [&] {
        x.store(1, kRelaxed);
        x.store(2, kRelaxed);
      },
      [] {});
  return {x.load(kRelaxed)};
}

// The order of the stores to each place is the opposite of that in the threads (2+2W).
Outcome crossed_writes() {
  std::atomic<int> x{0}, y{0};
  const auto thread = [](std::atomic<int>& first, std::atomic<int>& second) {
    return [&] {
      first.store(1, kRelaxed);
      second.store(2, kRelaxed);
    };
  };
  in_threads(thread(x, y), thread(y, x));
  return {x.load(kRelaxed), y.load(kRelaxed)};
}

Outcome increments() {
  std::atomic<int> x{0};
  const auto increment = [&] { x.fetch_add(1, kRelaxed); };
  in_threads(increment, increment, increment);
  return {x.load(kRelaxed)};
}

// Only one thread finds 0.
Outcome exchanges() {
  std::atomic<int> x{0};
  Outcome found{};
  const auto thread = [&x](int own, int& found_by) {
    return [&x, &found_by, own] {
      int expected = 0;
      found_by = x.compare_exchange_strong(expected, own, kRelaxed) ? 1 : 0;
    };
  };
  in_threads(thread(1, found[0]), thread(2, found[1]));
  found[2] = x.load(kRelaxed);
  return found;
}

struct Litmus {
  std::function<Outcome()> program;
  Outcomes outcomes;
  bool buffers_loads = false;
};

const Outcomes kAllOfTwo{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
const Outcomes kNotBothZero{{0, 1}, {1, 0}, {1, 1}};
const Outcomes kNoFlagWithoutData{{0, 0}, {0, 1}, {1, 1}};
const Outcomes kNotBothOne{{0, 0}, {0, 1}, {1, 0}};

Outcomes all_but(const Outcomes& excluded, std::size_t count) {
  Outcomes all;
  for (int bits = 0; bits < 1 << count; ++bits) {
    Outcome outcome{};
    for (std::size_t i = 0; i < count; ++i) outcome[i] = bits >> i & 1;
    if (!excluded.contains(outcome)) all.insert(outcome);
  }
  return all;
}

const std::map<std::string, Litmus>& all_litmus() {
  static const std::map<std::string, Litmus> all{
      {"store_buffering", {store_buffering<kRelaxed, kRelaxed>, kAllOfTwo}},
      {"store_buffering_sequential", {store_buffering<kSequential, kSequential>, kNotBothZero}},
      {"store_buffering_half_sequential", {store_buffering<kSequential, kAcquire>, kAllOfTwo}},
      {"store_buffering_fences", {store_buffering<kRelaxed, kRelaxed, true>, kNotBothZero}},
      {"message_passing_relaxed", {message_passing<kRelaxed, kRelaxed>, kAllOfTwo}},
      {"message_passing_half", {message_passing<kRelease, kRelaxed>, kAllOfTwo}},
      {"message_passing", {message_passing<kRelease, kAcquire>, kNoFlagWithoutData}},
      {"message_passing_fences", {message_passing<kRelaxed, kRelaxed, true>, kNoFlagWithoutData}},
      {"release_sequence", {release_sequence, {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 1}}}},
      {"overwritten_release", {overwritten_release, {{0, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}}}},
      {"independent_reads", {independent_reads<kRelease, kAcquire>, all_but({}, 4)}},
      {"independent_reads_sequential",
       {independent_reads<kSequential, kSequential>, all_but({{1, 0, 1, 0}}, 4)}},
      {"load_buffering", {load_buffering<kRelaxed, kRelaxed>, kNotBothOne, true}},
      {"load_buffering_acquire", {load_buffering<kAcquire, kRelaxed>, kNotBothOne}},
      {"load_buffering_release", {load_buffering<kRelaxed, kRelease>, kNotBothOne}},
      {"causality", {causality, all_but({{1, 1, 0}}, 3)}},
      {"reads_of_one_place", {reads_of_one_place, {{0, 0}, {0, 1}, {1, 1}}}},
      {"read_after_write", {read_after_write, {{1, 1}, {2, 1}, {2, 2}}}},
      {"write_after_read", {write_after_read, {{0, 1}, {0, 2}, {1, 2}}}},
      {"writes_of_one_place", {writes_of_one_place, {{2}}}},
      {"crossed_writes", {crossed_writes, {{1, 1}, {1, 2}, {2, 1}, {2, 2}}}},
      {"increments", {increments, {{3}}}},
      {"exchanges", {exchanges, {{1, 0, 1}, {0, 1, 2}}}}};
  return all;
}

struct Found {
  Outcomes outcomes;
  Report report;
};

Found find(const Litmus& litmus, const Rules& rules = {}) {
  Found found;
  found.report = explore({.rules = rules}, [&] {
    const Outcome outcome = litmus.program();
    const Inside here;
    found.outcomes.insert(outcome);
  });
  return found;
}

TEST(Litmus, HasTheOutcomesOfCpp) {
  for (const auto& [name, litmus] : all_litmus()) {
    const Found found = find(litmus);
    EXPECT_FALSE(found.report.fault) << name << ": " << *found.report.fault;
    EXPECT_EQ(found.outcomes, litmus.outcomes) << name;
    EXPECT_EQ(found.report.buffers_loads, litmus.buffers_loads) << name;
  }
}

TEST(Litmus, HasOtherOutcomesWithoutARule) {
  const std::vector<std::pair<const char*, bool Rules::*>> rules{
      {"message_passing", &Rules::acquire_learns},
      {"message_passing_relaxed", &Rules::relaxed_is_silent},
      {"message_passing_half", &Rules::relaxed_is_silent},
      {"release_sequence", &Rules::modify_passes_on},
      {"overwritten_release", &Rules::only_modify_passes_on},
      {"message_passing_fences", &Rules::release_fence},
      {"message_passing_fences", &Rules::acquire_fence},
      {"reads_of_one_place", &Rules::loads_keep_the_read},
      {"causality", &Rules::loads_keep_the_read},
      {"message_passing", &Rules::loads_keep_the_known},
      {"read_after_write", &Rules::loads_keep_the_known},
      {"write_after_read", &Rules::stores_follow_the_read},
      {"writes_of_one_place", &Rules::stores_follow_the_known},
      {"increments", &Rules::modify_is_one},
      {"exchanges", &Rules::modify_is_one},
      {"store_buffering_sequential", &Rules::accesses_have_one_order},
      {"independent_reads_sequential", &Rules::accesses_have_one_order},
      {"store_buffering_fences", &Rules::fences_have_one_order},
      {"store_buffering", &Rules::loads_may_be_late},
      {"crossed_writes", &Rules::stores_may_be_early}};
  for (const auto& [name, rule] : rules) {
    Rules broken;
    broken.*rule = false;
    const Litmus& litmus = all_litmus().at(name);
    EXPECT_NE(find(litmus, broken).outcomes, litmus.outcomes) << name;
  }
}

// Two threads write `data` while they hold `lock`.
template <std::memory_order kTakes, std::memory_order kGives>
void lock() {
  std::atomic_flag lock;
  int data = 0;
  const auto thread = [&] {
    wait_until([&] { return !lock.test_and_set(kTakes); });
    ++data;
    lock.clear(kGives);
  };
  in_threads(thread, thread);
  expect(data == 2, "both threads have written");
}

TEST(Faults, AreDataRaces) {
  EXPECT_EQ(explore({}, lock<kAcquire, kRelease>).fault, std::nullopt);
  EXPECT_THAT(explore({}, lock<kRelaxed, kRelease>).fault.value_or(""),
              ::testing::HasSubstr("data race"));
  EXPECT_THAT(explore({}, lock<kAcquire, kRelaxed>).fault.value_or(""),
              ::testing::HasSubstr("data race"));
}

TEST(Faults, AreWaitsForEver) {
  const auto report = explore({}, [] {
    std::atomic<int> turn{0};
    const auto player = [&](int own) {
      return [&turn, own] {
        wait_until([&] { return turn.load(kAcquire) == own; });
        turn.store(own + 2, kRelease);
      };
    };
    in_threads(player(0), player(1));
  });
  EXPECT_EQ(report.fault, "threads wait for ever");
}

TEST(Faults, AreWhatTheProgramDoesNotExpect) {
  const auto report = explore({}, [] {
    std::atomic<int> x{0}, y{0};
    in_threads([&] { x.store(1, kRelaxed); }, [&] { y.store(x.load(kRelaxed), kRelaxed); });
    expect(y.load(kRelaxed) == 0, "y has no news of x");
  });
  EXPECT_EQ(report.fault, "y has no news of x");
}

// A thread counts to 3, and another one waits for it.
template <bool kLooksLate>
void count_to_three() {
  std::atomic<int> count{0};
  in_threads(
      [&] {
        for (int i = 1; i <= 3; ++i) count.store(i, kRelease);
      },
      [&] {
        const auto look = [&] { return count.load(kAcquire) == 3; };
        if (kLooksLate) return wait_until(look);
        while (!look()) wait_for_news();
      });
}

TEST(Exploration, LooksAgainOnlyWhereThereIsNews) {
  const Report often = explore({}, count_to_three<false>);
  EXPECT_EQ(often.fault, std::nullopt);
  EXPECT_EQ(often.complete_count, 8U) << "each of 0, 1 and 2 may be read before 3, or not";
  const Report late = explore({}, count_to_three<true>);
  EXPECT_EQ(late.fault, std::nullopt);
  EXPECT_EQ(late.complete_count, 1U);
}

}  // namespace
}  // namespace rota::orders
