// Has the list of all objects that are kept. The list is never destroyed.
#include "memory/kept.h"

#include <mutex>
#include <utility>
#include <vector>

namespace rota::memory {
namespace {

// A union does not destroy its member.
union Kept {
  std::vector<std::shared_ptr<const void>> objects{};
  ~Kept() {}  // NOLINT: the default one would be deleted.
};

}  // namespace

void keep_for_ever(std::shared_ptr<const void> object) noexcept {
  static std::mutex mutex;
  static Kept kept;
  if (!object) return;
  const std::scoped_lock lock(mutex);
  kept.objects.push_back(std::move(object));
}

}  // namespace rota::memory
