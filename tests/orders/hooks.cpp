// The functions that a program under exploration calls without knowing: the compiler's calls for a
// race detector, those of the C library that start threads and wait, and the allocation of memory.
// While no program runs, they do what they always do.
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "orders/exploration.h"

namespace rota::orders {
namespace {

using PlainKind = PlainAccesses::Kind;

// Index = the number that the compiler gives to the order.
constexpr std::memory_order kOrders[] = {std::memory_order_relaxed, std::memory_order_consume,
                                         std::memory_order_acquire, std::memory_order_release,
                                         std::memory_order_acq_rel, std::memory_order_seq_cst};

const void* begun_at = nullptr;  // Where the latest atomic operation has begun.

void note_caller(const void* at) { begun_at = at; }

bool is_shared(const volatile void* address) {
  return exploration && !exploration->is_alone() && exploration->has(address);
}

void note(PlainKind kind, const void* address, std::size_t bytes) {
  if (!is_shared(address)) return;
  const Inside here;
  here->note(kind, address, bytes);
}
void before_load(const void* address, std::size_t bytes) { note(PlainKind::kRead, address, bytes); }
void before_store(const void* address, std::size_t bytes) {
  note(PlainKind::kWrite, address, bytes);
}

template <class T>
Access access_at(const volatile T* address, Kind kind, int order) {
  return {.kind = kind,
          .order = kOrders[order],
          .place = reinterpret_cast<std::uintptr_t>(address),
          .bytes = sizeof(T),
          .caller = begun_at};
}

template <class T>
T load(const volatile T* address, int order) {
  if (!is_shared(address)) return __atomic_load_n(address, __ATOMIC_SEQ_CST);
  const Inside here;
  return static_cast<T>(here->access(access_at(address, Kind::kLoad, order)));
}

template <class T>
void store(volatile T* address, T value, int order) {
  if (!is_shared(address)) return __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
  const Inside here;
  Access access = access_at(address, Kind::kStore, order);
  access.stored = value;
  here->access(std::move(access));
}

template <class T, class F>
T modify(volatile T* address, int order, int otherwise, F change) {
  const Inside here;
  Access access = access_at(address, Kind::kModify, order);
  access.otherwise = kOrders[otherwise];
  access.change = [&change](std::uint64_t& value) {
    T own = static_cast<T>(value);
    if (!change(own)) return false;
    value = own;
    return true;
  };
  return static_cast<T>(here->access(std::move(access)));
}

template <class T>
bool compare_exchange(volatile T* address, T* expected, T desired, int order, int otherwise) {
  if (!is_shared(address)) {
    return __atomic_compare_exchange_n(address, expected, desired, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
  }
  const T wanted = *expected;
  const T before = modify(address, order, otherwise, [&](T& value) {
    if (value != wanted) return false;
    value = desired;
    return true;
  });
  *expected = before;
  return before == wanted;
}

void fence(int order) {
  if (!exploration || exploration->is_alone()) return __atomic_thread_fence(__ATOMIC_SEQ_CST);
  const Inside here;
  here->fence(kOrders[order], begun_at);
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (exploration) {
    const Inside here;
    return here->allocate(bytes, alignment);
  }
  void* const memory = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void release(void* memory) {
  if (!Exploration::is_allocated(memory)) std::free(memory);
}

// A function that throws although it must not, ends the run.
[[noreturn]] void end_run() {
  if (exploration) {
    const Inside here;
    here->fail("std::terminate was called");
  }
  std::abort();
}
[[maybe_unused]] const std::terminate_handler earlier_handler = std::set_terminate(end_run);

template <class F>
F* real(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace rota::orders

namespace calls = rota::orders;
#include "testing/race_detector_calls.h"

using rota::orders::Inside;

void* operator new(std::size_t bytes) {
  return rota::orders::allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return rota::orders::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { rota::orders::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { rota::orders::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { rota::orders::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  rota::orders::release(memory);
}

// NOLINTBEGIN: the names are those of the C library and of the linker.
extern "C" {

int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) {
  const Inside here;
  if (!here) {
    return rota::orders::real<decltype(pthread_create)>("pthread_create")(id, attributes, body,
                                                                          argument);
  }
  *id = here->start_thread([body, argument] { body(argument); });
  return 0;
}

int pthread_join(pthread_t id, void** result) {
  const Inside here;
  if (!here) return rota::orders::real<decltype(pthread_join)>("pthread_join")(id, result);
  here->join_thread(id);
  return 0;
}

int __real_sched_yield();
int __wrap_sched_yield() {
  const Inside here;
  if (!here) return __real_sched_yield();
  here->wait_for_news();
  return 0;
}

// Time stands still, so no wait ends because of it.
std::int64_t __real__ZNSt6chrono3_V212steady_clock3nowEv();
std::int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  return rota::orders::exploration ? 1'000'000'000 : __real__ZNSt6chrono3_V212steady_clock3nowEv();
}

int __real_nanosleep(const timespec* rest, timespec* left);
int __wrap_nanosleep(const timespec* rest, timespec* left) {
  const Inside here;
  if (!here) return __real_nanosleep(rest, left);
  here->wait_for_news();
  return 0;
}

void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  rota::orders::before_load(from, bytes);
  rota::orders::before_store(to, bytes);
  return __real_memcpy(to, from, bytes);
}

[[noreturn]] void __wrap__ZN4rota4base16assertion_failedEPKcS2_i(const char* condition, const char*,
                                                                 int) {
  const Inside here;
  if (!here) std::abort();
  here->fail(std::string("failed assertion: ") + condition);
}
}
// NOLINTEND
