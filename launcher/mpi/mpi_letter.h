// An MPI letter is what the MPI server of one host writes to that of another host. The hosts
// between them pass it on unread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rota::launcher {

// All ranks are numbers in the job. A host is named by one of its ranks.
struct MpiLetter {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::string text{};

  friend bool operator==(const MpiLetter&, const MpiLetter&) = default;
};
std::string encode(const MpiLetter& letter);
std::optional<MpiLetter> decode_mpi_letter(std::string_view bytes);

}  // namespace rota::launcher
