// Tries one checkpoint after the other; all ranks agree on each before they try the next.
#include "checkpoint/choose.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "checkpoint/exchange.h"

namespace rota::checkpoint {
namespace {

using Steps = std::vector<std::uint64_t>;

std::string encode(const Steps& steps) {
  base::ByteWriter writer;
  for (const std::uint64_t step : steps) writer.write(step);
  return text_of(writer);
}

Steps steps_from(const std::string& text) {
  base::ByteReader reader(base::bytes_of(text));
  Steps steps;
  while (reader.ok() && !reader.at_end()) steps.push_back(reader.read<std::uint64_t>());
  return steps;
}

// Returns the steps in the folders of all groups.
std::vector<Steps> steps_of_groups(Communicator& communicator, const Writers& writers,
                                   const CheckpointFolder& folder) {
  std::string mine;
  const std::string failure =
      on_chiefs(communicator, writers, [&] { mine = encode(folder.steps()); });
  if (!failure.empty()) throw UnreadableFile(failure);
  const std::vector<std::string> texts = all_texts(communicator, mine);
  std::vector<Steps> all;
  for (std::size_t group = 0; group < writers.group_count(); ++group) {
    all.push_back(steps_from(texts[writers.chief_of(group)]));
  }
  return all;
}

enum class Condition : std::uint8_t {
  kWhole,
  kMissing,
  kDamaged,
  kUnreadable,  // The system could not read a file, so nobody knows whether it is damaged.
  kLater,       // A newer rota wrote it, so this rota does not know whether it is damaged.
};

// What one rank has found at a path.
struct Finding {
  Condition condition = Condition::kMissing;
  std::string text;  // Of the error; if it is whole: of the manifest.
};

std::string encode(const Finding& finding) {
  base::ByteWriter writer;
  writer.write(static_cast<std::uint8_t>(finding.condition));
  writer.write(std::string_view(finding.text));
  return text_of(writer);
}

Finding finding_from(const std::string& text) {
  base::ByteReader reader(base::bytes_of(text));
  Finding finding;
  finding.condition = static_cast<Condition>(reader.read<std::uint8_t>());
  finding.text = reader.read_text();
  return finding;
}

Condition condition_of(const Error& error) noexcept {
  if (dynamic_cast<const LaterFormat*>(&error) != nullptr) return Condition::kLater;
  if (error.code() == ErrorCode::kNotFound) return Condition::kMissing;
  return error.code() == ErrorCode::kBadData ? Condition::kDamaged : Condition::kUnreadable;
}

// Returns this rank's share of what the ranks of its host check in the folder of its group. They
// see the same bytes, so each byte is checked once.
CheckShare share_of(const Writers& writers) {
  CheckShare share{.index = 0, .count = 0};
  for (std::size_t rank = 0; rank < writers.world_size(); ++rank) {
    const bool is_beside = writers.group_of(rank) == writers.group() &&
                           writers.host_of(rank) == writers.host_of(writers.rank());
    if (!is_beside) continue;
    if (rank < writers.rank()) ++share.index;
    ++share.count;
  }
  return share;
}

Finding open(const std::string& path, const CheckShare& share,
             std::optional<CheckpointReader>& checkpoint) {
  try {
    checkpoint.emplace(path, share);
    return {.condition = Condition::kWhole, .text = encode(checkpoint->manifest())};
  } catch (const Error& error) {
    return {.condition = condition_of(error), .text = error.what()};
  }
}

// Throws Error kNotFound if a rank does not see the checkpoint that the first rank of its group
// sees, or sees another one. A rank that finds the checkpoint damaged, or cannot read it, does see
// it.
void require_one_folder(const Writers& writers, const std::string& name,
                        const std::vector<Finding>& findings) {
  for (std::size_t rank = 1; rank < findings.size(); ++rank) {
    const std::size_t chief = writers.chief_of(writers.group_of(rank));
    const Finding& first = findings[chief];
    const Finding& finding = findings[rank];
    const bool is_chief_blind = first.condition == Condition::kMissing;
    const bool are_whole =
        first.condition == Condition::kWhole && finding.condition == Condition::kWhole;
    const bool is_other = are_whole && first.text != finding.text;
    if (is_chief_blind == (finding.condition == Condition::kMissing) && !is_other) continue;
    const std::size_t blind = is_chief_blind ? chief : rank;
    throw Error(ErrorCode::kNotFound,
                writers.name_of(blind) +
                    (is_other ? " sees another checkpoint at " : " does not see the checkpoint ") +
                    name + ": " + writers.what_folders_are_needed(),
                blind);
  }
}

// Copies of one save differ only in what one host has of it.
bool are_copies(Manifest one, Manifest other) {
  one.ranks = other.ranks = {};
  one.files = other.files = {};
  return one == other;
}

std::string difference(const Writers& writers, std::size_t first, const Manifest& theirs,
                       std::size_t rank, const Manifest& ours) {
  const auto text_of_copy = [&](std::size_t of, const Manifest& manifest) {
    return writers.name_of(of) + " has that of run " + to_text(manifest.run) + ", start " +
           std::to_string(manifest.start);
  };
  return "the checkpoints of step " + std::to_string(ours.step) +
         " are not copies: " + text_of_copy(first, theirs) + ", and " + text_of_copy(rank, ours);
}

// What all ranks have found of one checkpoint.
struct Tried {
  std::vector<std::optional<Manifest>> copies;  // Index = group.
  std::string why_not;                          // Empty: it can be chosen.
  Condition condition = Condition::kWhole;      // Of the copy that `why_not` is about.
};

// `counts` says of each group whether it needs a copy.
Tried judge(const Writers& writers, const std::vector<Finding>& findings,
            const std::vector<bool>& counts) {
  Tried tried;
  tried.copies.resize(writers.group_count());
  std::optional<std::size_t> first;  // The first rank with a copy.
  for (std::size_t rank = 0; rank < findings.size(); ++rank) {
    const std::size_t group = writers.group_of(rank);
    const Finding& finding = findings[rank];
    if (!counts[group] || !tried.why_not.empty()) continue;
    if (finding.condition != Condition::kWhole) {
      tried.why_not =
          writers.group_count() == 1 ? finding.text : writers.name_of(rank) + ": " + finding.text;
      tried.condition = finding.condition;
    } else if (!tried.copies[group]) {
      tried.copies[group] =
          parse_manifest("the manifest of " + writers.name_of(rank), finding.text);
      if (!first) first = rank;
      const Manifest& theirs = *tried.copies[writers.group_of(*first)];
      if (are_copies(theirs, *tried.copies[group])) continue;
      tried.why_not = difference(writers, *first, theirs, rank, *tried.copies[group]);
    }
  }
  return tried;
}

class Chooser {
 public:
  Chooser(Communicator& communicator, const Writers& writers)
      : communicator_(communicator), writers_(writers) {}

  // This rank looks at `path`, unless it is empty. Returns what all ranks have found. `name` is
  // that of the checkpoint in errors.
  Tried look(const std::string& path, const std::string& name, const std::vector<bool>& counts) {
    checkpoint_.reset();
    Finding mine{.text = "there is no checkpoint of this step"};
    if (!path.empty()) mine = open(path, share_of(writers_), checkpoint_);
    std::vector<Finding> findings;
    for (const std::string& text : all_texts(communicator_, encode(mine))) {
      findings.push_back(finding_from(text));
    }
    require_one_folder(writers_, name, findings);
    return judge(writers_, findings, counts);
  }

  Choice choice(Tried tried, std::string note) {
    return {std::move(checkpoint_), std::move(tried.copies), std::move(note)};
  }

 private:
  Communicator& communicator_;
  const Writers& writers_;
  std::optional<CheckpointReader> checkpoint_;
};

// Throws UnreadableFile if a rank could not read the checkpoint, and Error kBadData if a newer rota
// wrote it. Otherwise one read error, or a start with an older program, would make the run train
// many steps again, and set newer checkpoints aside that may be whole. `or_else` says what else the
// user can do.
void require_readable(const Tried& tried, const std::string& or_else) {
  if (tried.condition == Condition::kLater) {
    throw Error(ErrorCode::kBadData, tried.why_not + ", or " + or_else);
  }
  if (tried.condition != Condition::kUnreadable) return;
  throw UnreadableFile("a checkpoint cannot be read: " + tried.why_not +
                       "; look at the disk and its permissions, and start again, or " + or_else);
}

Choice choose_at(Chooser chooser, const Writers& writers, const std::string& path) {
  Tried tried = chooser.look(path, path, std::vector<bool>(writers.group_count(), true));
  if (tried.why_not.empty()) return chooser.choice(std::move(tried), {});
  require_readable(tried, "resume from another checkpoint");
  if (tried.condition == Condition::kMissing) {
    throw Error(ErrorCode::kNotFound,
                "there is no checkpoint to resume from: " + tried.why_not + "; check the path");
  }
  throw Error(ErrorCode::kBadData, "the checkpoint to resume from is not whole: " + tried.why_not);
}

}  // namespace

Choice choose(Communicator& communicator, const Writers& writers, const CheckpointFolder& folder,
              const std::string& from) {
  Chooser chooser(communicator, writers);
  if (!from.empty()) return choose_at(std::move(chooser), writers, from);
  const std::vector<Steps> there = steps_of_groups(communicator, writers, folder);
  std::vector<bool> counts;
  std::set<std::uint64_t, std::greater<>> steps;
  for (const Steps& group : there) {
    counts.push_back(!group.empty());
    steps.insert(group.begin(), group.end());
  }
  const Steps& mine = there[writers.group()];
  std::string damages;
  for (const std::uint64_t step : steps) {
    const bool is_mine = std::ranges::find(mine, step) != mine.end();
    Tried tried = chooser.look(is_mine ? folder.path_of(step) : "",
                               "of step " + std::to_string(step), counts);
    if (tried.why_not.empty()) return chooser.choice(std::move(tried), std::move(damages));
    require_readable(tried, "move this checkpoint away, and the run goes on from an older one");
    damages += (damages.empty() ? "" : "; ") + tried.why_not;
  }
  if (damages.empty()) return {{}, std::vector<std::optional<Manifest>>(there.size()), {}};
  throw Error(ErrorCode::kBadData,
              "no checkpoint is whole" +
                  std::string(writers.group_count() == 1 ? "" : " on every host") + ": " + damages +
                  (writers.group_count() == 1
                       ? "; move the folder away to train from the beginning"
                       : "; move the folder of a host away, and another host sends it what is "
                         "whole there"));
}

}  // namespace rota::checkpoint
