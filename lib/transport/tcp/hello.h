// The first bytes of a connection, in each direction: who calls whom, and for which job.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace rota::transport::tcp {

struct Hello {
  std::array<char, 4> magic{'R', 'O', 'T', 'A'};
  std::uint32_t version = 1;  // Read in another byte order it is another number: refused.
  std::array<std::byte, 16> nonce{};
  std::uint64_t epoch = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;

  friend bool operator==(const Hello&, const Hello&) = default;
};
static_assert(sizeof(Hello) == 40);

}  // namespace rota::transport::tcp
