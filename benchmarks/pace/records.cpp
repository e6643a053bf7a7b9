// Trains on images in memory, and on the same images in files of records.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include <rota/records.h>
#include <rota/source.h>

#include "pace/ways.h"
#include "pace/window.h"

namespace rota::bench {
namespace {

constexpr std::size_t kShards = 4;
constexpr std::size_t kPrefetched = 2;  // Batches.

// A record has the label of an image, and then its pixels.
void write_records(const Dataset& data, const std::filesystem::path& prefix) {
  const std::size_t pixels = data.shape.count();
  std::vector<std::byte> record(1 + pixels);
  for (std::size_t shard = 0; shard < kShards; ++shard) {
    const Slice images = slice_of(data.count(), shard, kShards);
    RecordWriter writer(shard_path(prefix, shard, kShards));
    for (std::size_t i = images.offset; i < images.offset + images.count; ++i) {
      record.front() = std::byte{data.labels[i]};
      const auto image = std::span(data.pixels).subspan(i * pixels, pixels);
      std::ranges::copy(std::as_bytes(image), record.begin() + 1);
      writer.append(record);
    }
    writer.close();
  }
}

std::uint8_t decode(std::span<const std::byte> record, std::span<float> inputs) {
  std::ranges::transform(record.subspan(1), inputs.begin(),
                         [](std::byte pixel) { return static_cast<float>(pixel) / 255; });
  return std::to_integer<std::uint8_t>(record.front());
}

}  // namespace

void compare_records(Communicator& communicator, const TrainAndTest& data,
                     const PaceArguments& arguments) {
  const std::filesystem::path prefix = arguments.folder / "train";
  if (communicator.rank() == 0) write_records(data.train, prefix);
  communicator.barrier();
  const RecordReader reader(shards_of(prefix));
  const auto train = [&](bool has_records, std::size_t prefetch, Window& window) {
    TrainerOptions options = options_of_mlp();
    options.prefetch = prefetch;
    Model<float> model = mlp_for(data.train);
    auto source = has_records ? records_of(reader, model, options.batch_size, decode)
                              : samples_of<float>(data.train, model, options.batch_size, "train");
    auto test = samples_of<float>(data.test, model, options.batch_size, "test");
    Trainer<float> trainer(communicator, std::move(model), std::move(source), std::move(test),
                           options);
    trainer.add_hook(window);
    trainer.run();
  };
  const auto way = [&](const char* name, bool has_records, std::size_t prefetch) {
    return Way{name, [&train, has_records, prefetch](Window& window) {
                 train(has_records, prefetch, window);
               }};
  };
  run_rounds(communicator,
             std::array{way("memory", false, 0), way("records", true, 0),
                        way("memory-prefetched", false, kPrefetched),
                        way("records-prefetched", true, kPrefetched)},
             arguments.rounds);
}

}  // namespace rota::bench
