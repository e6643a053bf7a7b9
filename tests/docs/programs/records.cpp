// Each rank writes a shard of a data set. Then each rank reads records of all shards.
#include <rota/communicator.h>
#include <rota/records.h>

#include <cstdio>
#include <filesystem>
#include <string>

int main() {
  const std::filesystem::path folder = "numbers";
  rota::Communicator comm;
  if (comm.rank() == 0) std::filesystem::create_directory(folder);
  comm.barrier();

  rota::RecordWriter writer(rota::shard_path(folder / "train", comm.rank(), comm.world_size()));
  for (int i = 0; i < 3; ++i) {
    const std::string text = std::to_string(i) + " of rank " + std::to_string(comm.rank());
    writer.append(std::as_bytes(std::span(text)));
  }
  writer.close();  // The shard and its index are on the disk.
  comm.barrier();

  const rota::RecordReader reader(rota::shards_of(folder / "train"));
  const auto last = reader.record(reader.count() - 1);  // No copy, and no other record is read.
  if (comm.rank() == 0) {
    std::printf("%zu records, the last one is \"%.*s\"\n", reader.count(),
                static_cast<int>(last.size()), reinterpret_cast<const char*>(last.data()));
  }
  comm.barrier();
  if (comm.rank() == 0) std::filesystem::remove_all(folder);
}
