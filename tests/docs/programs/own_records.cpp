// Each rank writes a shard of points. Then all ranks train on the points of all shards.
#include <rota/records.h>
#include <rota/split.h>
#include <rota/trainer.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <utility>

using Point = std::array<float, 3>;  // x, y, and whether y > x.

void write_points(const std::filesystem::path& path, std::size_t rank) {
  rota::RecordWriter writer(path);
  std::mt19937 random(static_cast<unsigned>(rank));
  for (int i = 0; i < 500; ++i) {
    const auto x = static_cast<float>(random() % 1000) / 1000;
    const auto y = static_cast<float>(random() % 1000) / 1000;
    const Point point = {x, y, y > x ? 1.0F : 0.0F};
    writer.append(std::as_bytes(std::span(point)));
  }
  writer.close();
}

std::uint8_t decode(std::span<const std::byte> record, std::span<float> inputs) {
  Point point;
  if (record.size() != sizeof(Point)) throw std::runtime_error("a record is no point");
  std::memcpy(point.data(), record.data(), sizeof(Point));
  inputs[0] = point[0];
  inputs[1] = point[1];
  return point[2] > 0 ? 1 : 0;
}

int main() {
  rota::Communicator ranks;
  if (ranks.rank() == 0) std::filesystem::create_directory("points");
  ranks.barrier();
  write_points(rota::shard_path("points/train", ranks.rank(), ranks.world_size()), ranks.rank());
  ranks.barrier();  // All shards are on the disk.

  const rota::RecordReader reader(rota::shards_of("points/train"));
  rota::Model<float> model({1, 2, 1}, {rota::dense(8), rota::relu(), rota::dense(2)});
  rota::TrainerOptions options;
  options.epochs = 10;
  options.batch_size = 10;
  options.shuffle_window = 200;
  options.prefetch = 2;
  const auto points =
      rota::records_of(reader, model, options.batch_size, decode, {.digest = "points, version 1"});
  const rota::SplitSamples parts = rota::split_samples(points.count, {.validation = 0.1});
  rota::Trainer<float> trainer(ranks, std::move(model), rota::part_of(points, parts.train),
                               rota::part_of(points, parts.validation), options);
  const rota::EndReport end = trainer.run();
  if (ranks.rank() > 0) return 0;
  const auto correct = static_cast<double>(end.test.correct);
  std::printf("trained on %zu of %zu points in %zu shards; accuracy on the others %.1f\n",
              parts.train.size(), points.count, points.shards.size(),
              correct / static_cast<double>(end.test.samples));
}
