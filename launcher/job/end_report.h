// Writes the sentence by which rotarun tells a person how the job ended: which rank failed, on
// which host, and how.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/job/exit_policy.h"
#include "launcher/ranks/job_event.h"

namespace rota::launcher {

struct RankName {
  int pid = -1;
  std::string host;
};

// note_reason() keeps the last message that rotarun printed. If the job ends then, this message is
// the reason. note_cause() keeps a cause, and later messages do not replace the cause. An empty
// text is not a cause. If a line begins with "rotarun: ", these words are left out.
void note_reason(std::string_view said);
void note_cause(std::string_view said);

// The next two functions return what is noted: the cause or, without a cause, the last message.
// noted_words() returns all lines; lines that were quoted from a rank are indented. noted_reason()
// returns only the first line, because the other lines of a message are advice to a person.
std::string noted_reason();
const std::string& noted_words();

// Forgets the noted message and cause. A process calls it if another process or a later message
// reports the reason of the job's end.
void forget_reason();

// Returns a text such as "exited with code 3" or "was killed by SIGKILL".
std::string to_text(const Ending& ending);

// Returns why a rank was killed by a signal that rotarun had passed on to the ranks, and what to
// do.
std::string why_passed_signal_kills(int signal);

// Returns a text such as "dropped a late event of world 1, from rank 0: it was killed by SIGKILL".
std::string describe_late(const JobEvent& event);

// Returns how the job ended: a sentence without a line end, empty for a success. `evaluators`: the
// evaluators that have started, by number.
std::string describe(const Outcome& outcome, std::span<const RankRecord> records,
                     std::span<const RankName> names, std::span<const RankName> evaluators = {});

// Returns a text such as "rank 0, rank 2". If that would be long, returns only the number of ranks,
// such as "20 ranks".
std::string list_ranks(std::span<const std::size_t> ranks);

// Returns the lines that quote a rank's stderr, each with its line end. Returns nothing if there is
// nothing to quote.
std::string quote(const std::vector<std::string>& last_words);

}  // namespace rota::launcher
