// A job event says what happened to a job, or in one of its worlds. The host where an event happens
// reports it to the host that decides what follows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rota::launcher {

struct JobEvent {
  enum class Kind {
    kRankStarted,       // value: its process id
    kRankStopped,       //
    kRankContinued,     //
    kRankExited,        // value: the code
    kRankKilled,        // value: the signal; text: why, if known
    kEvaluatorStarted,  // value: its process id; text: its host
    kEvaluatorExited,   // value: the code
    kEvaluatorKilled,   // value: the signal; text: why, if known
    kNotStarted,        // value: the exit code of the job; text: why
    kSignal,            // value: a signal that rotarun got; text: which host got it
    kRankSpoke,         // There is something to read on its connection.
    kRankConnected,     // It has called MPI_Init.
    kRankFinalized,     // It has called MPI_Finalize.
    kRankAborted,       // MPI ends the job; value: the exit code, text: what the rank did
    kRankFenced,        // text: the FenceShare of its host
    kRankWroteLetter,   // text: an MpiLetter of the MPI server of its host
    kMpiFailed,         // Its host has no MPI server any more; value: the exit code, text: why
    kHostEnded,         // Nothing of the job is left on that host.
    kHostLost,          // value: the exit code of the job; text: why
    kRankWrote,         // value: the Stream; text: what it wrote
    kEvaluatorWrote,    // value: the Stream; text: what it wrote
  };
  Kind kind = Kind::kRankStarted;
  std::uint32_t world = 0;  // The world's number; 0: the job itself.
  std::size_t rank = 0;     // Or the number of a host (kHost…) or an evaluator.
  int value = 0;
  std::string text{};
  std::vector<std::string> last_words{};  // Last words of a rank that failed.

  friend bool operator==(const JobEvent&, const JobEvent&) = default;
};

bool is_of_evaluator(JobEvent::Kind kind) noexcept;

// Returns whether the event is about the job, whichever world the job has: signals, events of
// hosts, and output. If a rank of an earlier world wrote output on another host, the output is
// shown as output of the rank that has the same number now.
bool is_of_job(JobEvent::Kind kind) noexcept;

// Returns whether the event must be ignored in the world of this number, because it is about an
// earlier world. The rank numbers of that world belong to other processes now.
bool is_late(const JobEvent& event, std::uint32_t world) noexcept;

// encode() returns the bytes of an event that travels between hosts; kRankSpoke and k…Wrote do not
// travel. decode_job_event() returns nothing if `bytes` are not such an event, or have a rank or
// host number of `limit` or more. The limit for evaluators is the largest number of ranks that a
// job may have. It also returns nothing if an event of a world has no world number, or an event of
// the job has one.
std::string encode(const JobEvent& event);
std::optional<JobEvent> decode_job_event(std::string_view bytes, std::size_t limit);

}  // namespace rota::launcher
