// Keeps a list of all memory, by address.
#include "device/owned.h"

#include <atomic>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "device/calls.h"

namespace rota::device {
namespace {

std::atomic<std::uint64_t> frees{0};

using ByAddress = std::map<const std::byte*, OwnedMemory*, std::less<>>;

struct List {
  std::mutex mutex;
  ByAddress by_address;
  std::vector<std::shared_ptr<const OwnedMemory>> kept;
};

// Never destroyed: a program may keep memory in a static variable.
List& list_of_all() {
  static auto* const kList = new List;
  return *kList;
}

std::byte* allocate(std::size_t bytes, std::uint8_t device) {
  void* address = nullptr;
  const int error = calls().allocate(device, bytes, address);
  if (error == kNoRoom) {
    throw Error(ErrorCode::kNoMemory, "device " + std::to_string(device) + " has no room for " +
                                          std::to_string(bytes) + " bytes");
  }
  check(error, device, "the allocation of " + std::to_string(bytes) + " bytes");
  return static_cast<std::byte*>(address);
}

}  // namespace

// The entry of the list is made first: if this throws, nothing is lost.
OwnedMemory::OwnedMemory(std::size_t bytes, std::uint8_t device) {
  ByAddress made{{nullptr, this}};
  auto entry = made.extract(made.begin());
  bytes_ = {allocate(bytes, device), bytes, device};
  entry.key() = bytes_.address();
  List& list = list_of_all();
  const std::scoped_lock lock(list.mutex);
  list.by_address.insert(std::move(entry));
}

// It leaves the list first: once it is given back, other memory may get its address.
OwnedMemory::~OwnedMemory() {
  {
    List& list = list_of_all();
    const std::scoped_lock lock(list.mutex);
    list.by_address.erase(bytes_.address());
  }
  frees.fetch_add(1, std::memory_order_relaxed);
  if (const cuda::Calls* calls = calls_in_use()) calls->free(bytes_.device(), bytes_.address());
}

std::shared_ptr<const OwnedMemory> find_owned(const void* address) noexcept {
  const auto* const at = static_cast<const std::byte*>(address);
  List& list = list_of_all();
  const std::scoped_lock lock(list.mutex);
  auto found = list.by_address.upper_bound(at);
  if (found == list.by_address.begin()) return nullptr;
  const OwnedMemory& memory = *std::prev(found)->second;
  const auto offset = static_cast<std::size_t>(at - memory.bytes().address());
  return offset < memory.bytes().size() ? memory.weak_from_this().lock() : nullptr;
}

void keep_for_now(std::shared_ptr<const OwnedMemory> memory) noexcept {
  List& list = list_of_all();
  const std::scoped_lock lock(list.mutex);
  list.kept.push_back(std::move(memory));
}

// The destructor of the memory takes the lock.
void give_back_kept() noexcept {
  std::vector<std::shared_ptr<const OwnedMemory>> given;
  {
    List& list = list_of_all();
    const std::scoped_lock lock(list.mutex);
    given.swap(list.kept);
  }
}

// Relaxed: a thread that has an address of other memory has got it after that memory was allocated,
// and so after the count had changed.
std::uint64_t freed_count() noexcept { return frees.load(std::memory_order_relaxed); }

}  // namespace rota::device
