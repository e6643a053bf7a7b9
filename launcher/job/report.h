// What rotarun tells a person about how the job ended.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/exit_policy.h"
#include "launcher/ranks/news.h"

namespace rota::launcher {

struct RankName {
  int pid = -1;
  std::string host;
};

// Keeps what was said last, with or without "rotarun: " at its lines: where the job ends then, it
// is why. A cause stays, whatever is said after it; nothing is none.
void note_reason(std::string_view said);
void note_cause(std::string_view said);

// The cause, or what was said last: its first line, for what follows is advice to a person; and all
// of it, where lines that were quoted from a rank are indented.
std::string noted_reason();
const std::string& noted_words();

// For a process whose other half goes on with the job, and knows why it ends.
void forget_reason();

// "exited with code 3", "was killed by SIGKILL".
std::string to_text(const Ending& ending);

// "late news of world 1 is dropped, of rank 0: it was killed by SIGKILL".
std::string describe_late(const News& news);

// A sentence, without its line's end. Empty for a success. `evaluators` by number, those that have
// started.
std::string describe(const Outcome& outcome, std::span<const RankRecord> records,
                     std::span<const RankName> names, std::span<const RankName> evaluators = {});

// "rank 0, rank 2", or "4 ranks" where they are too many to be read.
std::string list_ranks(std::span<const std::size_t> ranks);

// The lines that quote a rank's stderr, each with its end. Empty when there is nothing to quote.
std::string quote(const std::vector<std::string>& last_words);

}  // namespace rota::launcher
