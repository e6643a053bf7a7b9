// What is left for whoever looks at a container that has ended: Kubernetes shows it as the
// container's termination message.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace rota::launcher {

// So much is shown of one container, however many a pod has.
inline constexpr std::size_t kMostMessageBytes = 2048;

// Why the job ended, as it was said, and with which code. What does not fit is cut: first of the
// lines that are quoted from a rank, which are indented, the earlier ones. UTF-8 whatever `words`
// is, since nobody would take it otherwise.
std::string termination_message(const std::string& words, int exit_code);

// Writes that to the file that ROTA_TERMINATION_LOG names, or else to /dev/termination-log, where
// there is one; makes none. Of a success, and where nothing was said, nothing is written.
void leave_termination_message(const std::vector<std::string>& environment, int exit_code);

}  // namespace rota::launcher
