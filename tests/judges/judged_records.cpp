// Writes and reads files of records for judge_records.py.
//
//   judged_records write FILE      writes records of 0, 1, 2, … bytes
//   judged_records read FILE       prints each record as hexadecimal digits
#include <rota/records.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "base/byte_stream.h"
#include "base/hex.h"

namespace {

void write(const char* path) {
  rota::RecordWriter writer(path);
  for (std::size_t bytes = 0; bytes < 300; ++bytes) {
    std::string record;
    for (std::size_t i = 0; i < bytes; ++i) record += static_cast<char>(i % 251);
    writer.append(rota::base::bytes_of(record));
  }
  writer.close();
}

void read(const char* path) {
  const rota::RecordReader reader({path});
  for (std::size_t i = 0; i < reader.count(); ++i) {
    std::printf("%s\n", rota::base::to_hex(reader.record(i)).c_str());
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  if (argv[1] == std::string_view("write")) {
    write(argv[2]);
  } else {
    read(argv[2]);
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
