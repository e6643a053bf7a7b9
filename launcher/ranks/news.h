// What happened to a job, or in one of its worlds: said by the host on which it happened, and heard
// where it is decided what follows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rota::launcher {

struct News {
  enum class Kind {
    kRankStarted,       // value: its process
    kRankStopped,       //
    kRankContinued,     //
    kRankExited,        // value: the code
    kRankKilled,        // value: the signal; text: why, where that is known
    kEvaluatorStarted,  // value: its process; text: its host
    kEvaluatorExited,   // value: the code
    kEvaluatorKilled,   // value: the signal; text: why, where that is known
    kNotStarted,        // value: the exit code of the job; text: why
    kSignal,            // value: a signal that asks for the job's end; text: which host got it
    kRankSpoke,         // There is something to read on its line.
    kHostEnded,         // Nothing of the job is left there.
    kHostLost,          // value: the exit code of the job; text: why
    kRankWrote,         // value: the Stream; text: what
    kEvaluatorWrote,    // value: the Stream; text: what
  };
  Kind kind = Kind::kRankStarted;
  std::uint32_t world = 0;  // Its number; 0: of the job itself.
  std::size_t rank = 0;     // Or the host, of kHost…, or the evaluator
  int value = 0;
  std::string text{};
  std::vector<std::string> last_words{};  // The rank's, where it failed.

  friend bool operator==(const News&, const News&) = default;
};

bool is_of_evaluator(News::Kind kind) noexcept;

// Whether it is told of the job, whichever world it has: signals, what befalls hosts, and output.
// What a rank of an earlier world wrote on another host is shown as that of its number today.
bool is_of_job(News::Kind kind) noexcept;

// Whether it is not to be heard in the world of this number: what it tells is of an earlier one,
// whose ranks' numbers are those of others now.
bool is_late(const News& news, std::uint32_t world) noexcept;

// Of those that travel between hosts: kRankSpoke and k…Wrote do not. Empty when `bytes` are no such
// news, speak of a rank or host from `limit` on, or of no world where they have to. There are no
// more evaluators than there may be ranks.
std::string encode(const News& news);
std::optional<News> decode_news(std::string_view bytes, std::size_t limit);

}  // namespace rota::launcher
