// The functions that -fsanitize=thread calls before each load and store, and in place of each
// atomic operation. Each passes the call on to namespace calls, which the including file defines.
// An atomic operation first tells note_caller() where it is. A program may include this file only
// once.
#pragma once
#include <cstddef>

// NOLINTBEGIN: the names are the compiler's.
extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_read_range(void* at, std::size_t bytes) { calls::before_load(at, bytes); }
void __tsan_write_range(void* at, std::size_t bytes) { calls::before_store(at, bytes); }

#define ROTA_ACCESS(bytes)                                                       \
  void __tsan_read##bytes(void* at) { calls::before_load(at, bytes); }           \
  void __tsan_write##bytes(void* at) { calls::before_store(at, bytes); }         \
  void __tsan_unaligned_read##bytes(void* at) { calls::before_load(at, bytes); } \
  void __tsan_unaligned_write##bytes(void* at) { calls::before_store(at, bytes); }
ROTA_ACCESS(1)
ROTA_ACCESS(2)
ROTA_ACCESS(4)
ROTA_ACCESS(8)
ROTA_ACCESS(16)

#define ROTA_FETCH(bits, type, name, expression)                                            \
  type __tsan_atomic##bits##_fetch_##name(volatile type* at, type operand, int order) {     \
    calls::note_caller(__builtin_return_address(0));                                        \
    if (!calls::is_shared(at)) return __atomic_fetch_##name(at, operand, __ATOMIC_SEQ_CST); \
    return calls::modify(at, order, order, [&](type& value) {                               \
      value = static_cast<type>(expression);                                                \
      return true;                                                                          \
    });                                                                                     \
  }

#define ROTA_ATOMIC(bits, type)                                                                    \
  type __tsan_atomic##bits##_load(const volatile type* at, int order) {                            \
    calls::note_caller(__builtin_return_address(0));                                               \
    return calls::load(at, order);                                                                 \
  }                                                                                                \
  void __tsan_atomic##bits##_store(volatile type* at, type value, int order) {                     \
    calls::note_caller(__builtin_return_address(0));                                               \
    calls::store(at, value, order);                                                                \
  }                                                                                                \
  type __tsan_atomic##bits##_exchange(volatile type* at, type desired, int order) {                \
    calls::note_caller(__builtin_return_address(0));                                               \
    if (!calls::is_shared(at)) return __atomic_exchange_n(at, desired, __ATOMIC_SEQ_CST);          \
    return calls::modify(at, order, order, [&](type& value) {                                      \
      value = desired;                                                                             \
      return true;                                                                                 \
    });                                                                                            \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* at, type* expected,             \
                                                    type desired, int order, int otherwise) {      \
    calls::note_caller(__builtin_return_address(0));                                               \
    return calls::compare_exchange(at, expected, desired, order, otherwise);                       \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* at, type* expected, type desired, \
                                                  int order, int otherwise) {                      \
    calls::note_caller(__builtin_return_address(0));                                               \
    return calls::compare_exchange(at, expected, desired, order, otherwise);                       \
  }                                                                                                \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* at, type expected, type desired,  \
                                                  int order, int otherwise) {                      \
    calls::note_caller(__builtin_return_address(0));                                               \
    calls::compare_exchange(at, &expected, desired, order, otherwise);                             \
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
  calls::note_caller(__builtin_return_address(0));
  calls::fence(order);
}
void __tsan_atomic_signal_fence(int) {}
}
// NOLINTEND
