// Makes the termination message, which Kubernetes shows for a container that has ended. The message
// says why the job ended.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace rota::launcher {

// The largest number of bytes that are shown of one container, however many containers a pod has.
inline constexpr std::size_t kMostMessageBytes = 2048;

// Returns a message that says why the job ended, in the words that rotarun printed, and with which
// exit code. If the message is too long, lines quoted from a rank, which are indented, are cut
// first, and among these lines the earliest ones. The message is UTF-8 even if `words` is not,
// because readers accept nothing else.
std::string termination_message(const std::string& words, int exit_code);

// Writes the message to the file that ROTA_TERMINATION_LOG names. If that is not set, writes to
// /dev/termination-log. Writes only to a file that exists. Writes nothing after a success, or if
// rotarun printed no reason.
void leave_termination_message(const std::vector<std::string>& environment, int exit_code);

}  // namespace rota::launcher
