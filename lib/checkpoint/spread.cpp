// Plans who sends which file, and moves the files piece by piece.
#include "checkpoint/spread.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include <rota/error.h>

#include "base/assert.h"
#include "checkpoint/exchange.h"
#include "checkpoint/file_names.h"
#include "checkpoint/file_writer.h"
#include "checkpoint/restore.h"
#include "os/durable_file.h"

namespace rota::checkpoint {
namespace {

using CopySpan = std::span<const std::optional<Manifest>>;

bool is_of_rank(const ManifestFile& file) {
  return file_name_from(file.name)->kind == FileKind::kRank;
}

std::optional<std::size_t> first_copy(CopySpan copies) {
  const auto found = std::ranges::find_if(copies, &std::optional<Manifest>::has_value);
  if (found == copies.end()) return std::nullopt;
  return static_cast<std::size_t>(found - copies.begin());
}

// The file with the pieces of saved rank `rank`. Null if the copy does not have it.
const ManifestFile* file_of_rank(const std::optional<Manifest>& copy, std::size_t rank) {
  if (!copy) return nullptr;
  const std::string name = to_text(FileName{
      .kind = FileKind::kRank, .index = rank, .count = static_cast<std::size_t>(copy->world_size)});
  const auto found = std::ranges::find(copy->files, name, &ManifestFile::name);
  return found == copy->files.end() ? nullptr : &*found;
}

std::string list_of(const std::vector<std::size_t>& ranks) {
  std::string text;
  for (const std::size_t rank : ranks) {
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

// Moves `size` bytes. `take` gets them on the rank that receives, `bytes` has them on the other.
void move_bytes(Communicator& communicator, const Sending& sending,
                std::span<const std::byte> bytes,
                const std::function<void(std::span<const std::byte>)>& take) {
  std::vector<std::byte> piece;
  for (std::uint64_t at = 0; at < sending.file.bytes;) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(kSumBytes, sending.file.bytes - at));
    if (communicator.rank() == sending.from) {
      communicator.send(bytes.subspan(static_cast<std::size_t>(at), count), sending.to);
    } else {
      piece.resize(count);
      communicator.receive(piece, sending.from);
      take(piece);
    }
    at += count;
  }
}

// A new copy of what all ranks share, in a folder that had no checkpoint.
class NewCopy {
 public:
  NewCopy(const CheckpointFolder& folder, Manifest manifest, const Owner* owner)
      : folder_(folder), manifest_(std::move(manifest)), owner_(owner) {
    manifest_.ranks.clear();
    std::erase_if(manifest_.files, is_of_rank);
    work([&] { hidden_ = folder_.begin(save_of(manifest_)); });
  }

  // Receives all pieces even if the disk has failed, because the other rank sends them all.
  void receive(Communicator& communicator, const Sending& sending) {
    std::optional<os::NewFile> file;
    work([&] { file.emplace(hidden_ + "/" + sending.file.name); });
    move_bytes(communicator, sending, {},
               [&](std::span<const std::byte> piece) { work([&] { file->append(piece); }); });
    work([&] { file->sync(); });
  }

  // Returns why there is no copy, or an empty text.
  std::string finish() {
    work([&] {
      os::sync_folder(hidden_);
      write_manifest(hidden_, manifest_);
      owner_->require_ownership();
      folder_.commit(save_of(manifest_));
    });
    return failure_;
  }

 private:
  void work(const std::function<void()>& step) {
    if (failure_.empty()) failure_ = failure_of(step);
  }

  const CheckpointFolder& folder_;
  Manifest manifest_;
  const Owner* owner_;
  std::string hidden_;
  std::string failure_;
};

struct Received {
  ManifestFile file;
  std::vector<std::byte> bytes;
};

void throw_if(const std::string& failure) {
  if (!failure.empty()) throw Error(ErrorCode::kCannotWrite, failure);
}

std::string what_was_lost(const Writers& writers, CopySpan copies) {
  std::string text;
  for (std::size_t group = 0; group < copies.size(); ++group) {
    if (copies[group]) continue;
    text += (text.empty() ? "host " : "; host ") + writers.host_of(writers.chief_of(group)) +
            " had no checkpoint, so another host has sent it this one";
  }
  const std::vector<std::size_t> lost = lost_ranks(copies);
  if (lost.empty()) return text;
  return text + (text.empty() ? "" : "; ") + "no host has what " + list_of(lost) +
         " alone had: what a codec had lost there starts from zero";
}

}  // namespace

std::vector<Sending> plan_sendings(const Writers& writers, CopySpan copies) {
  std::vector<Sending> sendings;
  const auto first = first_copy(copies);
  if (!first) return sendings;
  for (std::size_t group = 0; group < copies.size(); ++group) {
    if (copies[group]) continue;
    for (const ManifestFile& file : copies[*first]->files) {
      if (is_of_rank(file)) continue;
      sendings.push_back({writers.chief_of(*first), writers.chief_of(group), file});
    }
  }
  const auto saved_ranks = static_cast<std::size_t>(copies[*first]->world_size);
  for (std::size_t saved = 0; saved < saved_ranks; ++saved) {
    const std::size_t to = restoring_rank(saved, writers.world_size());
    if (file_of_rank(copies[writers.group_of(to)], saved) != nullptr) continue;
    for (std::size_t group = 0; group < copies.size(); ++group) {
      const ManifestFile* file = file_of_rank(copies[group], saved);
      if (file == nullptr) continue;
      sendings.push_back({writers.chief_of(group), to, *file});
      break;
    }
  }
  return sendings;
}

std::vector<std::size_t> lost_ranks(CopySpan copies) {
  const auto first = first_copy(copies);
  if (!first) return {};
  std::set<std::size_t> found;
  for (const std::optional<Manifest>& copy : copies) {
    if (copy) found.insert(copy->ranks.begin(), copy->ranks.end());
  }
  std::vector<std::size_t> lost;
  std::ranges::set_difference(copies[*first]->stateful_ranks, found, std::back_inserter(lost));
  return lost;
}

std::string spread(Communicator& communicator, const Writers& writers,
                   const CheckpointFolder& folder, const Owner* owner, Choice& choice) {
  const std::vector<Sending> sendings = plan_sendings(writers, choice.copies);
  const auto first = first_copy(choice.copies);
  const auto has_copy = &std::optional<Manifest>::has_value;
  const bool is_complete = sendings.empty() && std::ranges::all_of(choice.copies, has_copy);
  if (!first) return {};
  if (is_complete) return what_was_lost(writers, choice.copies);
  const bool had_none = !choice.copies[writers.group()];
  std::optional<NewCopy> copy;
  if (had_none && owner != nullptr) copy.emplace(folder, *choice.copies[*first], owner);
  std::vector<Received> received;
  for (const Sending& sending : sendings) {
    if (writers.rank() == sending.from) {
      move_bytes(communicator, sending, choice.checkpoint->bytes_of_file(sending.file.name), {});
    } else if (writers.rank() == sending.to && !is_of_rank(sending.file)) {
      copy->receive(communicator, sending);
    } else if (writers.rank() == sending.to) {
      std::vector<std::byte>& bytes = received.emplace_back(Received{sending.file, {}}).bytes;
      move_bytes(communicator, sending, {}, [&](std::span<const std::byte> piece) {
        bytes.insert(bytes.end(), piece.begin(), piece.end());
      });
    }
    // All ranks wait here, so the deadline is one for each file, and not one for all files.
    all_texts(communicator, {});
  }
  throw_if(first_failure(communicator, writers, copy ? copy->finish() : ""));
  const auto complete = [&] {
    if (had_none) choice.checkpoint.emplace(folder.path_of(choice.copies[*first]->step));
    for (Received& file : received) choice.checkpoint->add_rank(file.file, std::move(file.bytes));
  };
  throw_if(first_failure(communicator, writers, failure_of(complete)));
  return what_was_lost(writers, choice.copies);
}

}  // namespace rota::checkpoint
