// Each group takes its folder, and tells the others how that went.
#include "checkpoint/claim.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "checkpoint/copies.h"
#include "checkpoint/exchange.h"
#include "checkpoint/file_names.h"
#include "os/mapped_file.h"

namespace rota::checkpoint {
namespace {

// What the first rank of a group says of its folder.
struct Announcement {
  std::string failure;
  bool is_unreadable = false;  // The failure is that the system cannot read something there.
  std::string token;
  Copies copies;
};

std::string encode(const Announcement& announcement) {
  base::ByteWriter writer;
  writer.write(std::string_view(announcement.failure));
  writer.write(static_cast<std::uint8_t>(announcement.is_unreadable ? 1 : 0));
  writer.write(std::string_view(announcement.token));
  write(writer, announcement.copies);
  return text_of(writer);
}

Announcement announcement_from(const std::string& text) {
  base::ByteReader reader(base::bytes_of(text));
  Announcement announcement;
  announcement.failure = reader.read_text();
  announcement.is_unreadable = reader.read<std::uint8_t>() != 0;
  announcement.token = reader.read_text();
  announcement.copies = read_copies(reader);
  return announcement;
}

// Returns the announcements of all groups. Throws UnreadableFile if one of them could not read its
// folder or a manifest there, and Error kCannotWrite if it could not take the folder.
std::vector<Announcement> all_announcements(Communicator& communicator, const Writers& writers,
                                            const Announcement& mine) {
  const std::vector<std::string> texts = all_texts(communicator, encode(mine));
  std::vector<Announcement> all;
  for (std::size_t group = 0; group < writers.group_count(); ++group) {
    const std::size_t chief = writers.chief_of(group);
    all.push_back(announcement_from(texts[chief]));
    const Announcement& told = all.back();
    if (told.failure.empty()) continue;
    const std::string text = writers.told_by(chief, told.failure);
    if (!told.is_unreadable) throw Error(ErrorCode::kCannotWrite, text, chief);
    throw UnreadableFile("the folder of checkpoints cannot be read: " + text +
                             "; look at the disk and its permissions, and start again",
                         chief);
  }
  return all;
}

// Returns the token in the file `owner`, as this rank sees it, or an empty text if there is none.
std::string seen_token(const CheckpointFolder& folder) {
  constexpr std::size_t kMostBytes = 4096;
  try {
    const os::MappedFile file(folder.path() + "/" + kOwnerName);
    std::string text(kMostBytes, '\0');
    text.resize(file.read(0, std::as_writable_bytes(std::span(text))));
    const auto name = owner_name_from(text);
    return name ? to_text(name->token) : std::string();
  } catch (const Error&) {
    return {};
  }
}

// Throws Error kNotFound if a rank does not see the folder of its group.
void require_seen_folder(Communicator& communicator, const Writers& writers,
                         const CheckpointFolder& folder, const std::string& token) {
  const std::string blind = seen_token(folder) == token ? "" : folder.path();
  const std::vector<std::string> all = all_texts(communicator, blind);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    throw Error(ErrorCode::kNotFound,
                writers.name_of(rank) + " does not see the folder " + all[rank] + " of " +
                    writers.name_of(writers.chief_of(writers.group_of(rank))) + ": " +
                    writers.what_folders_are_needed(),
                rank);
  }
}

}  // namespace

Claim::Claim(Communicator& communicator, const Writers& writers, const CheckpointFolder& folder,
             std::chrono::nanoseconds patience) {
  const std::string drawn = writers.rank() == 0 ? to_text(random_run_id()) : std::string();
  run_ = run_id_from(text_of_rank_0(communicator, drawn)).value();
  Announcement mine;
  const auto take = [&] {
    if (!writers.is_chief()) return;
    folder.create();
    owner_.emplace(folder.path(), run_, start_,
                   std::chrono::duration_cast<std::chrono::milliseconds>(patience));
    folder.require_renames(owner_->name().token);
    mine.token = to_text(owner_->name().token);
    mine.copies = copies_in(folder);
  };
  mine.failure = failure_of([&] {
    try {
      take();
    } catch (const UnreadableFile&) {
      mine.is_unreadable = true;
      throw;
    }
  });
  const std::vector<Announcement> all = all_announcements(communicator, writers, mine);
  require_seen_folder(communicator, writers, folder, all[writers.group()].token);

  std::vector<Copies> copies(all.size());
  std::ranges::transform(all, copies.begin(), &Announcement::copies);
  const std::vector<SaveName> prepared = to_complete(copies[writers.group()], copies);
  const std::string failure = on_chiefs(communicator, writers, [&] {
    for (const SaveName& save : prepared) folder.commit(save);
    folder.sweep();
  });
  if (!failure.empty()) throw Error(ErrorCode::kCannotWrite, failure);
  had_checkpoints_ = std::ranges::any_of(copies, [&](const Copies& any) {
    return any.has_checkpoints || !to_complete(any, copies).empty();
  });
  for (const Copies& any : copies) {
    seen_.insert(seen_.end(), any.named.begin(), any.named.end());
    seen_.insert(seen_.end(), any.prepared.begin(), any.prepared.end());
  }
}

void Claim::go_on(const RunId& run, std::uint64_t start) {
  run_ = run;
  start_ = start;
  for (const SaveName& save : seen_) {
    if (save.run == run) start_ = std::max(start_, save.start + 1);
  }
  if (owner_) owner_->rename(run, start_);
}

}  // namespace rota::checkpoint
