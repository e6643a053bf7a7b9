// The steps of a save. Ranks tell each other the outcome of a step before the next one begins. A
// host removes the checkpoint before only when all hosts have the new one.
#include "checkpoint/saver.h"

#include <optional>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "checkpoint/agreed_pieces.h"
#include "checkpoint/exchange.h"
#include "checkpoint/file_names.h"
#include "checkpoint/file_writer.h"
#include "os/durable_file.h"
#include "os/mapped_file.h"

namespace rota::checkpoint {
namespace {

// What a rank has written, or why it could not.
struct Written {
  std::string failure;
  std::vector<ManifestFile> files;
  std::uint64_t pieces = 0;           // The hash of the pieces that all ranks share.
  std::vector<std::uint64_t> spared;  // As in the job of this rank.
};

std::string encode(const Written& written) {
  base::ByteWriter writer;
  // On armhf, GCC 12 sees a read beyond the first 4 bytes if they are moved. There is none.
  writer.reserve(256 + written.failure.size());
  writer.write(std::string_view(written.failure));
  writer.write(static_cast<std::uint64_t>(written.files.size()));
  for (const ManifestFile& file : written.files) {
    writer.write(std::string_view(file.name));
    writer.write(file.bytes);
    writer.write(static_cast<std::uint64_t>(file.sums.size()));
    for (const std::uint32_t sum : file.sums) writer.write(sum);
  }
  writer.write(written.pieces);
  writer.write(static_cast<std::uint64_t>(written.spared.size()));
  for (const std::uint64_t step : written.spared) writer.write(step);
  return text_of(writer);
}

Written written_from(const std::string& text) {
  base::ByteReader reader(base::bytes_of(text));
  Written written;
  written.failure = reader.read_text();
  const auto files = reader.read<std::uint64_t>();
  for (std::uint64_t i = 0; i < files && reader.ok(); ++i) {
    ManifestFile file;
    file.name = reader.read_text();
    file.bytes = reader.read<std::uint64_t>();
    const auto sums = reader.read<std::uint64_t>();
    for (std::uint64_t sum = 0; sum < sums && reader.ok(); ++sum) {
      file.sums.push_back(reader.read<std::uint32_t>());
    }
    written.files.push_back(std::move(file));
  }
  written.pieces = reader.read<std::uint64_t>();
  const auto spared = reader.read<std::uint64_t>();
  for (std::uint64_t i = 0; i < spared && reader.ok(); ++i) {
    written.spared.push_back(reader.read<std::uint64_t>());
  }
  return written;
}

Written write_files(const SaveJob& job, const std::string& hidden, const Snapshot& snapshot,
                    bool syncs_folder) {
  Written written{
      .failure = {}, .files = {}, .pieces = hash_of_pieces(job.manifest), .spared = job.spared};
  written.failure = failure_of([&] {
    std::vector<os::NewFile> unsynced;
    for (const PlannedFile& planned : job.plan.files) {
      WrittenFile made = write_file(hidden, planned.name, contents_of(planned, snapshot.values()));
      written.files.push_back(std::move(made.entry));
      unsynced.push_back(std::move(made.file));
    }
    for (os::NewFile& file : unsynced) file.sync();
    if (syncs_folder) os::sync_folder(hidden);
  });
  return written;
}

// Returns whether a rank syncs the names of its files before there is a manifest. Where several
// hosts keep copies, a whole manifest in a hidden folder means that all its files are there. A
// single chief syncs the folder only once, after the manifest.
bool syncs_names_first(const Writers& writers) {
  return !writers.is_chief() || writers.group_count() > 1;
}

// Throws unless this rank sees the files: a rank of another host may have written to another folder
// of the same name.
void require_files(const std::string& hidden, const std::vector<ManifestFile>& files) {
  for (const ManifestFile& file : files) {
    const std::uint64_t bytes = os::MappedFile(hidden + "/" + file.name).size();
    if (bytes == file.bytes) continue;
    throw Error(ErrorCode::kCannotWrite,
                hidden + "/" + file.name + " has " + std::to_string(bytes) + " of the " +
                    std::to_string(file.bytes) + " bytes that its rank wrote");
  }
}

// Adds the files of the group's ranks to its manifest, and which ranks of all groups have their
// own.
void add_files(const std::vector<Written>& all, const Writers& writers, Manifest& manifest) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const bool is_here = writers.group_of(rank) == writers.group();
    for (const ManifestFile& file : all[rank].files) {
      const bool is_own = file_name_from(file.name)->kind == FileKind::kRank;
      if (is_own) manifest.stateful_ranks.push_back(rank);
      if (!is_here) continue;
      if (is_own) manifest.ranks.push_back(rank);
      manifest.files.push_back(file);
    }
  }
}

std::string first_failure_of(const std::vector<Written>& all, const Writers& writers) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (!all[rank].failure.empty()) return writers.name_of(rank) + ": " + all[rank].failure;
    if (all[rank].pieces == all.front().pieces) continue;
    return writers.name_of(rank) + " has other pieces of the state than rank 0: " + kSamePieces;
  }
  return {};
}

}  // namespace

// Says that this thread works at the disk, as long as this object lives.
class Saver::AtDisk {
 public:
  explicit AtDisk(std::atomic<base::Clock::rep>& since) : since_(since) {
    since_.store(base::Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  }
  ~AtDisk() { since_.store(kNotAtDisk, std::memory_order_relaxed); }
  AtDisk(const AtDisk&) = delete;
  AtDisk& operator=(const AtDisk&) = delete;

 private:
  std::atomic<base::Clock::rep>& since_;
};

std::optional<base::TimePoint> Saver::at_disk_since() const noexcept {
  const base::Clock::rep since = at_disk_since_.load(std::memory_order_relaxed);
  if (since == kNotAtDisk) return std::nullopt;
  return base::TimePoint(base::Clock::duration(since));
}

Saver::Saver(Communicator& communicator, const Writers& writers, CheckpointFolder folder,
             std::size_t keep, const Owner* owner)
    : communicator_(communicator),
      writers_(writers),
      folder_(std::move(folder)),
      keep_(keep),
      owner_(owner) {}

// Where several hosts rename, the disk has the hidden folder before any of them does.
void Saver::prepare(const std::string& hidden, const Manifest& manifest) const {
  require_files(hidden, manifest.files);
  write_manifest(hidden, manifest);
  if (writers_.group_count() > 1) os::sync_folder(folder_.path());
}

// Returns the first failure, on every rank, up to the rename.
std::string Saver::make(const SaveJob& job, const Snapshot& snapshot, Made& made) {
  const SaveName name = save_of(job.manifest);
  const std::string hidden = folder_.path_of_hidden(name);
  std::string failure = on_chiefs(communicator_, writers_, [&] {
    const AtDisk at_disk(at_disk_since_);
    owner_->require_ownership();
    folder_.begin(name);
  });
  if (!failure.empty()) return failure;

  std::string written;
  {
    const AtDisk at_disk(at_disk_since_);
    written = encode(write_files(job, hidden, snapshot, syncs_names_first(writers_)));
  }
  std::vector<Written> all;
  for (const std::string& text : all_texts(communicator_, written)) {
    all.push_back(written_from(text));
    for (const ManifestFile& file : all.back().files) made.bytes += file.bytes;
  }
  made.spared = all.front().spared;
  failure = first_failure_of(all, writers_);
  if (!failure.empty()) return failure;

  Manifest manifest = job.manifest;
  add_files(all, writers_, manifest);
  failure = on_chiefs(communicator_, writers_, [&] {
    const AtDisk at_disk(at_disk_since_);
    prepare(hidden, manifest);
  });
  if (!failure.empty()) return failure;
  return on_chiefs(communicator_, writers_, [&] {
    const AtDisk at_disk(at_disk_since_);
    owner_->require_ownership();
    folder_.commit(name);
    made.is_named = true;
  });
}

SaveOutcome Saver::save(const SaveJob& job, Snapshot& snapshot) {
  snapshot.copy();
  const SaveName name = save_of(job.manifest);
  Made made;
  SaveOutcome outcome{.failure = make(job, snapshot, made),
                      .path = folder_.path_of(name.step),
                      .bytes = made.bytes,
                      .left = {}};
  if (outcome.failure.empty()) {
    // The checkpoint is there, even if another one cannot be set aside or removed. If one cannot be
    // set aside, old ones are removed all the same: otherwise they would fill the disk.
    outcome.left = on_chiefs(communicator_, writers_, [&] {
      const AtDisk at_disk(at_disk_since_);
      owner_->require_ownership();
      const std::string failure = failure_of([&] { folder_.set_aside_after(name.step); });
      folder_.keep_newest(keep_, name.step, made.spared);
      if (!failure.empty()) throw Error(ErrorCode::kCannotWrite, failure);
    });
    return outcome;
  }
  // A save that failed leaves nothing behind; what cannot be removed goes at the next start.
  if (writers_.is_chief()) {
    const AtDisk at_disk(at_disk_since_);
    [[maybe_unused]] const std::string ignored = failure_of([&] {
      os::remove_all(folder_.path_of_hidden(name));
      if (!made.is_named) return;
      owner_->require_ownership();
      folder_.remove(name.step);
    });
  }
  return outcome;
}

}  // namespace rota::checkpoint
