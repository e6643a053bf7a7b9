// Encodes and decodes what MPI servers of different hosts write to each other.
#include "launcher/mpi/mpi_letter.h"

#include "base/byte_stream.h"

namespace rota::launcher {

std::string encode(const MpiLetter& letter) {
  base::ByteWriter out;
  out.write(letter.from);
  out.write(letter.to);
  out.write(letter.text);
  return out.take_text();
}

std::optional<MpiLetter> decode_mpi_letter(std::string_view bytes) {
  base::ByteReader in(base::bytes_of(bytes));
  MpiLetter letter{.from = in.read<std::uint32_t>()};
  letter.to = in.read<std::uint32_t>();
  letter.text = in.read_text();
  if (!in.ok() || !in.at_end()) return std::nullopt;
  return letter;
}

}  // namespace rota::launcher
