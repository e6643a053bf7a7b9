// Sends the loads and stores of the code under test to simulated memory. Accesses outside of shared
// memory go to real memory.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "simulation/machine.h"

namespace rota::simulation {
namespace {

// Index = the number that the compiler gives to the order.
constexpr std::memory_order kOrders[] = {std::memory_order_relaxed, std::memory_order_consume,
                                         std::memory_order_acquire, std::memory_order_release,
                                         std::memory_order_acq_rel, std::memory_order_seq_cst};

// Returns whether the access can go straight to real memory, as most accesses can.
bool is_of_no_concern(const void* address) {
  return !machine || (machine->memory.is_settled() && !machine->memory.has(address));
}

void before_load(const void* address, std::size_t bytes) {
  if (is_of_no_concern(address)) return;
  const Inside here;
  if (here->memory.has(address)) {
    here->memory.before_load(address, bytes);
  } else {
    here->memory.settle();
  }
}

void before_store(void* address, std::size_t bytes) {
  if (is_of_no_concern(address)) return;
  const Inside here;
  if (here->memory.has(address)) {
    here->memory.before_store(address, bytes);
  } else {
    here->memory.settle();
  }
}

void note_caller(const void*) {}

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

void fence(int order) {
  const Inside here;
  if (!here) return __atomic_thread_fence(__ATOMIC_SEQ_CST);
  here->memory.settle();
  here->scheduler.may_switch();
  here->memory.fence(kOrders[order]);
}

}  // namespace
}  // namespace rota::simulation

namespace calls = rota::simulation;
#include "testing/race_detector_calls.h"
