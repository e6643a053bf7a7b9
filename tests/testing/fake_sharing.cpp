// The fake device's functions for ranks that share memory. An allocation that is opened gets
// addresses of its own, so that its owner's do not work by mistake. Another process opens the
// descriptor of its owner.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "kernels/reductions.h"
#include "testing/fake_inside.h"

namespace rota::testing {
namespace {

constexpr int kNotSupported = 801;

// What is in a handle.
struct Shown {
  FakeRun run;
  pid_t process = 0;
};
static_assert(sizeof(Shown) <= sizeof(cuda::MemoryHandle));

// Maps the memory of another process's allocation. Returns null if that fails.
std::byte* map_foreign(const Shown& shown) noexcept {
  const std::string path =
      "/proc/" + std::to_string(shown.process) + "/fd/" + std::to_string(shown.run.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const inside = mmap(nullptr, shown.run.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return inside == MAP_FAILED ? nullptr : static_cast<std::byte*>(inside);
}

int close_run(void* base) noexcept {
  FakeRun run;
  const int error = take_back_from_fake(base, run);
  if (error != 0) return error;
  munmap(base, run.bytes);
  if (run.view_of == 0) munmap(run.inside, run.bytes);
  return 0;
}

int open_run(const cuda::MemoryHandle& handle, void*& base) noexcept {
  Shown shown;
  std::memcpy(&shown, handle.bytes.data(), sizeof shown);
  const bool is_own = shown.process == getpid();
  FakeRun view = shown.run;
  view.is_foreign = true;
  view.view_of = is_own ? view.number : 0;
  if (!is_own) view.inside = map_foreign(shown);
  if (!view.inside) return kNotSupported;
  void* const address = mmap(nullptr, view.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return kNotSupported;
  if (add_foreign_run(FakeCall::kOpen, address, view) != 0) {
    munmap(address, view.bytes);
    if (!is_own) munmap(view.inside, view.bytes);
    return kNotSupported;
  }
  base = address;
  return 0;
}

// Adds one input after another, as kernels that take two inputs would.
void reduce_inside(FakeMemory& all, const cuda::ManyInputs& what,
                   const std::vector<const void*>& inputs) {
  const std::size_t bytes = what.count * bytes_of(what.type);
  std::vector<std::byte> sum(bytes);
  const auto& kernels = kernels::reference<kernels::Reductions>();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::byte* input = all.reach(inputs[i], bytes, "a reduction");
    if (!input) return;
    if (i == 0) {
      std::memcpy(sum.data(), input, bytes);
      continue;
    }
    const bool is_last = i + 1 == inputs.size();
    const ReduceOp op = what.op == ReduceOp::kMean && !is_last ? ReduceOp::kSum : what.op;
    kernels.combine(what.type, op)(sum.data(), input, what.count, what.factor);
  }
  for (void* output : {what.to, what.also_to}) {
    if (!output) continue;
    std::byte* to = all.reach(output, bytes, "a reduction");
    if (to) std::memcpy(to, sum.data(), bytes);
  }
}

void add_pins(cuda::Calls& calls) {
  calls.pin = [](void* address, std::size_t bytes) noexcept {
    wait_to_pin();
    return add_foreign_run(
        FakeCall::kPin, address,
        {.bytes = bytes, .inside = static_cast<std::byte*>(address), .is_foreign = true});
  };
  calls.unpin = [](void* address) noexcept {
    wait_to_pin();
    FakeRun run;
    return take_back_from_fake(address, run);
  };
}

}  // namespace

void add_sharing(cuda::Calls& calls) {
  add_pins(calls);
  calls.find_allocation = [](const void* address, cuda::Allocation& allocation) noexcept {
    FakeRun run;
    const int error = find_in_fake(FakeCall::kShare, address, allocation.base, run);
    allocation.bytes = run.bytes;
    allocation.number = run.number;
    return error;
  };
  calls.share = [](std::uint8_t, void* base, cuda::MemoryHandle& handle) noexcept {
    Shown shown{.run = {}, .process = getpid()};
    void* start = nullptr;
    const int error = find_in_fake(FakeCall::kShare, base, start, shown.run);
    if (error != 0 || start != base || shown.run.device < 0) return kNotSupported;
    std::memcpy(handle.bytes.data(), &shown, sizeof shown);
    return 0;
  };
  calls.open = [](std::uint8_t, const cuda::MemoryHandle& handle, void*& base) noexcept {
    return open_run(handle, base);
  };
  calls.close = [](std::uint8_t, void* base) noexcept { return close_run(base); };
  calls.reduce = [](const cuda::On& on, const cuda::ManyInputs& what) noexcept {
    const std::vector<const void*> inputs(what.inputs, what.inputs + what.input_count);
    return add_fake_kernel(on,
                           [what, inputs](FakeMemory& all) { reduce_inside(all, what, inputs); });
  };
}

}  // namespace rota::testing
