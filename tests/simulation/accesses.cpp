// The functions that -fsanitize=thread has called before each load and store, and in the place of
// each atomic operation. What is not shared memory is left as it is.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "simulation/machine.h"

namespace rota::simulation {
namespace {

// As the compiler numbers them.
constexpr std::memory_order kOrders[] = {std::memory_order_relaxed, std::memory_order_consume,
                                         std::memory_order_acquire, std::memory_order_release,
                                         std::memory_order_acq_rel, std::memory_order_seq_cst};

void before_load(const void* address, std::size_t bytes) {
  const Inside here;
  if (!here) return;
  if (here->memory.has(address)) {
    here->memory.before_load(address, bytes);
  } else {
    here->memory.settle();
  }
}

void before_store(void* address, std::size_t bytes) {
  const Inside here;
  if (!here) return;
  if (here->memory.has(address)) {
    here->memory.before_store(address, bytes);
  } else {
    here->memory.settle();
  }
}

bool is_shared(const volatile void* address) {
  return machine && machine->memory.has(const_cast<const void*>(address));
}

template <class T>
T load(const volatile T* address, int order) {
  if (!is_shared(address)) return __atomic_load_n(address, __ATOMIC_SEQ_CST);
  const Inside here;
  here->memory.settle();
  here->scheduler.may_switch();
  return static_cast<T>(
      here->memory.load(const_cast<const T*>(address), sizeof(T), kOrders[order]));
}

template <class T>
void store(volatile T* address, T value, int order) {
  if (!is_shared(address)) return __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
  const Inside here;
  here->memory.settle();
  here->scheduler.may_switch();
  here->memory.store(const_cast<T*>(address), sizeof(T), value, kOrders[order]);
}

template <class T, class F>
T modify(volatile T* address, int order, int otherwise, F change) {
  const Inside here;
  here->memory.settle();
  here->scheduler.may_switch();
  return static_cast<T>(here->memory.modify(const_cast<T*>(address), sizeof(T), kOrders[order],
                                            kOrders[otherwise], [&](std::uint64_t& value) {
                                              T own = static_cast<T>(value);
                                              if (!change(own)) return false;
                                              value = own;
                                              return true;
                                            }));
}

template <class T>
bool compare_exchange(volatile T* address, T* expected, T desired, int order, int otherwise) {
  if (!is_shared(address)) {
    return __atomic_compare_exchange_n(address, expected, desired, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
  }
  bool was_expected = false;
  const T before = modify(address, order, otherwise, [&](T& value) {
    was_expected = value == *expected;
    if (was_expected) value = desired;
    return was_expected;
  });
  if (!was_expected) *expected = before;
  return was_expected;
}

}  // namespace
}  // namespace rota::simulation

// NOLINTBEGIN: the names are the compiler's.
namespace sim = rota::simulation;

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_read_range(void* at, std::size_t bytes) { sim::before_load(at, bytes); }
void __tsan_write_range(void* at, std::size_t bytes) { sim::before_store(at, bytes); }

#define ROTA_ACCESS(bytes)                                                     \
  void __tsan_read##bytes(void* at) { sim::before_load(at, bytes); }           \
  void __tsan_write##bytes(void* at) { sim::before_store(at, bytes); }         \
  void __tsan_unaligned_read##bytes(void* at) { sim::before_load(at, bytes); } \
  void __tsan_unaligned_write##bytes(void* at) { sim::before_store(at, bytes); }
ROTA_ACCESS(1)
ROTA_ACCESS(2)
ROTA_ACCESS(4)
ROTA_ACCESS(8)
ROTA_ACCESS(16)

#define ROTA_FETCH(bits, type, name, expression)                                          \
  type __tsan_atomic##bits##_fetch_##name(volatile type* at, type operand, int order) {   \
    if (!sim::is_shared(at)) return __atomic_fetch_##name(at, operand, __ATOMIC_SEQ_CST); \
    return sim::modify(at, order, order, [&](type& value) {                               \
      value = static_cast<type>(expression);                                              \
      return true;                                                                        \
    });                                                                                   \
  }

#define ROTA_ATOMIC(bits, type)                                                                    \
  type __tsan_atomic##bits##_load(const volatile type* at, int order) {                            \
    return sim::load(at, order);                                                                   \
  }                                                                                                \
  void __tsan_atomic##bits##_store(volatile type* at, type value, int order) {                     \
    sim::store(at, value, order);                                                                  \
  }                                                                                                \
  type __tsan_atomic##bits##_exchange(volatile type* at, type desired, int order) {                \
    if (!sim::is_shared(at)) return __atomic_exchange_n(at, desired, __ATOMIC_SEQ_CST);            \
    return sim::modify(at, order, order, [&](type& value) {                                        \
      value = desired;                                                                             \
      return true;                                                                                 \
    });                                                                                            \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* at, type* expected,             \
                                                    type desired, int order, int otherwise) {      \
    return sim::compare_exchange(at, expected, desired, order, otherwise);                         \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* at, type* expected, type desired, \
                                                  int order, int otherwise) {                      \
    return sim::compare_exchange(at, expected, desired, order, otherwise);                         \
  }                                                                                                \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* at, type expected, type desired,  \
                                                  int order, int otherwise) {                      \
    sim::compare_exchange(at, &expected, desired, order, otherwise);                               \
    return expected;                                                                               \
  }                                                                                                \
  ROTA_FETCH(bits, type, add, value + operand)                                                     \
  ROTA_FETCH(bits, type, sub, value - operand)                                                     \
  ROTA_FETCH(bits, type, and, value& operand)                                                      \
  ROTA_FETCH(bits, type, or, value | operand)                                                      \
  ROTA_FETCH(bits, type, xor, value ^ operand)
ROTA_ATOMIC(8, unsigned char)
ROTA_ATOMIC(16, unsigned short)
ROTA_ATOMIC(32, unsigned)
ROTA_ATOMIC(64, unsigned long)

void __tsan_atomic_thread_fence(int order) {
  const sim::Inside here;
  if (!here) return __atomic_thread_fence(__ATOMIC_SEQ_CST);
  here->memory.settle();
  here->scheduler.may_switch();
  here->memory.fence(sim::kOrders[order]);
}
void __tsan_atomic_signal_fence(int) {}
}
// NOLINTEND
