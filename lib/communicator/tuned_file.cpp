// Reads a tuned file, and compares it with the group.
#include "communicator/tuned_file.h"

#include <rota/error.h>

#include "os/file.h"
#include "os/pipe.h"

namespace rota {
namespace {

bool is_own(const Group& group) {
  return !group.tuned || group.tuned->topology == topology_of(group.table, group.encrypts);
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "the tuned file " + path + " " + why);
}

}  // namespace

std::string read_tuned_file(const std::string& path) {
  const os::OpenedFile opened = os::open_file(path);
  if (opened.failure) refuse(path, "cannot be opened: " + *opened.failure);
  if (!opened.is_regular) refuse(path, "is not a regular file");
  std::string text(kMaxTunedBytes + 1, '\0');
  std::size_t count = 0;
  while (count < text.size()) {
    const auto read = os::read_available(opened.file.get(), std::span(text).subspan(count));
    if (read.io != os::Io::kDone) break;
    count += read.count;
  }
  text.resize(count);
  if (count <= kMaxTunedBytes) return text;
  refuse(path, "has more than the allowed " + std::to_string(kMaxTunedBytes) + " bytes");
}

void give_tuned(Group& group, const std::string& path, std::string_view text) {
  group.tuned = std::make_shared<const TunedTable>(parse_tuned(path, text));
  group.table.tuned = path;
}

void require_own_topology(const Group& group) {
  if (is_own(group)) return;
  refuse(group.table.tuned, "is for " + to_text(group.tuned->topology) + ", but this world is " +
                                to_text(topology_of(group.table, group.encrypts)) +
                                ": tune this world with rota-bench tune, or leave the file out");
}

void forget_foreign_topology(Group& group) {
  if (is_own(group)) return;
  group.tuned.reset();
  group.table.tuned.clear();
}

}  // namespace rota
