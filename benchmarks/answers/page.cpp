// Predicts, and writes the tables.
#include "answers/page.h"

#include <array>
#include <cmath>

#include "answers/stars.h"
#include "base/counted.h"
#include "base/number_text.h"
#include "base/world_size.h"
#include "predict/call_runner.h"
#include "predict/published_models.h"
#include "predict/worth.h"

namespace rota::bench {
namespace {

std::string in_percent(double share) {
  constexpr double kPercent = 100;
  return base::fixed_text(share * kPercent, 1) + " %";
}

std::string predicted_share(double share) { return in_percent(share) + " predicted"; }

std::string in_points(double difference) {
  constexpr double kPercent = 100;
  return (difference < 0 ? "" : "+") + base::fixed_text(difference * kPercent, 1);
}

std::string in_milliseconds(double seconds) {
  constexpr double kMilliseconds = 1e3;
  return base::fixed_text(seconds * kMilliseconds, 1) + " ms predicted";
}

std::string row_of_cells(std::span<const std::string> cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + cell + " |";
  return row + "\n";
}

// Returns the first two lines of a table. All columns but the first are for numbers.
std::string head_of_table(std::span<const std::string> titles) {
  std::string line = "|---|";
  for (std::size_t i = 1; i < titles.size(); ++i) line += "---:|";
  return row_of_cells(titles) + line + "\n";
}

std::vector<std::string> names_of_models() {
  std::vector<std::string> names;
  for (const PublishedModel& model : published_models()) names.emplace_back(model.name);
  return names;
}

// Returns a sentence about the run that is furthest off.
std::string left_out(std::span<const ComparedRun> runs, const std::string& model) {
  const ComparedRun* worst = nullptr;
  for (const ComparedRun& compared : runs) {
    if (compared.run.model != model) continue;
    if (worst == nullptr || std::abs(compared.error()) > std::abs(worst->error())) {
      worst = &compared;
    }
  }
  return "The rows of " + model + " are left out. On " + std::to_string(worst->run.hosts) +
         " hosts, the prediction is " + in_percent(worst->predicted) + " and Horovod has " +
         in_percent(worst->run.efficiency) + ", which is more than 10 points apart.\n\n";
}

double seconds_of_sum(const WorldModel& world, collectives::Algorithm plan, std::size_t count) {
  return seconds_of_call(world, {.algorithm = plan, .count = count}, Fold::kIfAlike);
}

// Returns the arguments of a prediction in the world of Horovod's benchmark.
PredictArguments arguments_of_worth() {
  constexpr double kLeastEfficiency = 0.8;
  PredictArguments arguments;
  arguments.shape.ranks_per_host = kGpusOfHost;
  arguments.transport = "tcp";
  arguments.step.plan = collectives::Algorithm::kRing;
  arguments.step.buckets = {.first_bucket_bytes = 16 * kMebibyte, .bucket_bytes = 16 * kMebibyte};
  arguments.least_efficiency = kLeastEfficiency;
  return arguments;
}

// Returns a cell about the largest world that is worth it.
std::string cell_of(const Worth& worth) {
  const PredictedWorld* const world = worth.largest();
  if (world == nullptr) return "none predicted";
  return base::counted(world->shape.host_count, "host", "hosts") +
         (worth.is_limit && worth.refusal.empty() ? ", as many as a job can have: " : ": ") +
         predicted_share(efficiency_of(world->step));
}

constexpr const char* kIntroduction = R"(## Larger worlds: predicted, not measured

No cell from here on was measured by us. Each cell says whether another project has *published* it,
or `rota-bench scale-answers` has *predicted* it. One cell is *calibrated*: the model was fitted to
it. [Predicting](../predicting.md) describes the model. The command prints this part again, on any
machine.

The workloads have the layers of the papers of Inception V3 (without its auxiliary head), ResNet-101
and VGG-16: 23.8, 44.5 and 138.4 million parameters. The time of a step is that of one Pascal GPU
with 64 images, from the README of Horovod of September 2017: 134.4, 119.4 and 130.9 images/s. The
share of each layer in it is assumed: a third is the forward pass, and layers take time by their
multiplications.

)";

constexpr const char* kHorovod = R"(### The model against Horovod's figures

Horovod's own way is one ring over all GPUs, which sums up to 64 MiB at once. Each host has 4 GPUs
and a cable of 25 Gbit/s with RoCE. The figures of 16 GPUs are in the README of September 2017, and
the figures of 128 GPUs in the README of late October 2017. Horovod's page of benchmarks has the
figures of 512 GPUs, and its [paper](https://arxiv.org/abs/1802.05799) describes the method.

One number of the model is calibrated: bytes get 20.5 of the 25 Gbit/s. With it, VGG-16 takes as
long on 16 GPUs as published. All other rows are predictions. Latencies (20 µs between hosts, 10 µs
within a host) are assumed, and so are 10 GB/s for bytes within a host and for additions. With half
or twice these latencies, the efficiencies on 512 GPUs differ by less than 6 points. Before the
gradients, the model sums three numbers, as a step of rota does. It knows neither stragglers nor the
messages by which Horovod's ranks agree on the next sum. So it is too good in large worlds.

)";

constexpr const char* kAt512 = R"(### What overlap, plans and codecs are worth

Each row names what it changes. In parentheses are the points that the change gains or loses against
the row above that it names. rota's ranks have the links of Horovod's benchmark, with the calibrated
rate. Coding is assumed to run at 200 GB/s.

)";

constexpr const char* kAt10000 = R"(### On 10,000 GPUs

With 10,000 hosts of one GPU and cables of 100 Gbit/s, of which bytes get the same share, the ring
is the wrong plan: each sum takes 2 × 9,999 hops. rota's codecs run on a ring only, so they gain
little there.)";

constexpr const char* kServers = R"(### Parameter servers

The values are cut into 19 slices. Each of 19 servers is the hub of a star: it adds up a slice of
all 64 workers, and sends the sum back. All of these 83 hosts have a cable of 25 Gbit/s, with the
same share for bytes. The ring has the 64 workers alone. Nothing overlaps in either.

)";

constexpr const char* kWorth = R"(### How many workers are worth it?

These are the most hosts of 4 GPUs with an efficiency of at least 80 %, for three rates of their
cables, by a ring with buckets of 16 MiB. For your own model, write a
[workload](../predicting.md#what-you-give), and run the next command. It gives bytes the same share
of 25 Gbit/s. Without a calibration, messages within a host and additions cost it nothing.

```sh
rota-bench predict --worth 80 --workload FILE --ranks-per-host 4 --rate 20.5G --latency 20us \
  --plan ring --first-bucket 16M --bucket 16M
```

)";

// Returns the text above the table of 10,000 GPUs.
std::string about_10000() {
  return std::string(kAt10000) + " A job of rota has at most " +
         std::to_string(base::kMaxWorldSize) + " ranks.\n\n";
}

}  // namespace

std::string horovod_table(std::span<const ComparedRun> runs) {
  const std::array<std::string, 5> titles{"", "GPUs", "Horovod", "this model", "points apart"};
  std::string table = head_of_table(titles);
  std::string missing;
  for (const std::string& model : names_of_models()) {
    if (!is_close(runs, model)) {
      missing += left_out(runs, model);
      continue;
    }
    for (const ComparedRun& compared : runs) {
      if (compared.run.model != model) continue;
      const std::array<std::string, 5> cells{
          model, std::to_string(compared.run.hosts * kGpusOfHost),
          in_percent(compared.run.efficiency) + " published",
          in_percent(compared.predicted) + (compared.run.calibrates ? " calibrated" : " predicted"),
          in_points(compared.error())};
      table += row_of_cells(cells);
    }
  }
  return table + "\n" + missing;
}

std::string ways_table(const std::string& title, std::span<const Way> ways,
                       std::span<const std::string> models, const WorldModel& world) {
  std::vector<std::string> titles{title, "change"};
  std::vector<std::vector<double>> columns;
  for (const std::string& model : models) {
    titles.push_back(model);
    columns.push_back(efficiencies_of(ways, model, world));
  }
  std::string table = head_of_table(titles);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const Way& way = ways[i];
    std::vector<std::string> cells{std::to_string(i + 1) + ". " + std::string(way.name),
                                   std::string(way.change)};
    if (way.from) cells.back() += ", against row " + std::to_string(*way.from + 1);
    for (const std::vector<double>& column : columns) {
      cells.push_back(predicted_share(column[i]));
      if (way.from) cells.back() += " (" + in_points(column[i] - column[*way.from]) + ")";
    }
    table += row_of_cells(cells);
  }
  return table + "\n";
}

std::string plans_table() {
  using collectives::Algorithm;
  const WorldModel world =
      model_of({.host_count = 128, .ranks_per_host = kGpusOfHost}, costs_of_gpus(kHorovodRate));
  const std::array<std::string, 3> titles{"one sum on 512 GPUs", "4 MiB", "64 MiB"};
  std::string table = head_of_table(titles);
  for (const Algorithm plan :
       {Algorithm::kRing, Algorithm::kTwoLevel, Algorithm::kHalvingDoubling, Algorithm::kTree}) {
    std::vector<std::string> cells{std::string(to_string(plan))};
    for (const std::size_t mebibytes : {std::size_t{4}, std::size_t{64}}) {
      const std::size_t count = mebibytes * kMebibyte / sizeof(float);
      cells.push_back(in_milliseconds(seconds_of_sum(world, plan, count)));
    }
    table += row_of_cells(cells);
  }
  return table + "\n";
}

std::string servers_table() {
  constexpr std::size_t kWorkers = 64;
  constexpr std::size_t kServerCount = 19;
  const WorldModel costs = costs_of_gpus(kHorovodRate);
  const WorldModel workers = model_of({.host_count = kWorkers}, costs);
  const WorldModel all = model_of({.host_count = kWorkers + kServerCount}, costs);
  const std::array<std::string, 5> titles{"", "19 servers: all sums", "efficiency",
                                          "ring: all sums", "efficiency"};
  std::string table = head_of_table(titles);
  for (const std::string& model : names_of_models()) {
    const Workload workload = published_workload(model);
    const double alone = alone_seconds_of(workload);
    const std::size_t count = gradient_bytes_of(workload) / sizeof(float);
    const double stars = predict_stars(all, kWorkers, count);
    const double ring = seconds_of_sum(workers, collectives::Algorithm::kRing, count);
    const std::array<std::string, 5> cells{
        model, in_milliseconds(stars), predicted_share(alone / (alone + stars)),
        in_milliseconds(ring), predicted_share(alone / (alone + ring))};
    table += row_of_cells(cells);
  }
  return table + "\n";
}

std::string worth_table() {
  const std::array<std::string, 4> titles{"", "10 Gbit/s", "25 Gbit/s", "100 Gbit/s"};
  std::string table = head_of_table(titles);
  for (const std::string& model : names_of_models()) {
    std::vector<std::string> cells{model};
    for (const double rate : {10e9, 25e9, 100e9}) {
      cells.push_back(
          cell_of(worth_of(arguments_of_worth(), published_workload(model), costs_of_gpus(rate))));
    }
    table += row_of_cells(cells);
  }
  return table + "\n";
}

std::string answers_page() {
  const std::vector<ComparedRun> runs = compared_runs(horovod_runs());
  std::vector<std::string> close;
  for (const std::string& model : names_of_models()) {
    if (is_close(runs, model)) close.push_back(model);
  }
  const WorldModel at512 =
      model_of({.host_count = 128, .ranks_per_host = kGpusOfHost}, costs_of_gpus(kHorovodRate));
  const WorldModel at10000 = model_of({.host_count = 10'000}, costs_of_gpus(100e9));
  return kIntroduction + (kHorovod + horovod_table(runs)) +
         (kAt512 + ways_table("512 GPUs, 25 Gbit/s", ways_at_512(), close, at512)) + plans_table() +
         (about_10000() + ways_table("10,000 GPUs, 100 Gbit/s", ways_at_10000(), close, at10000)) +
         (kServers + servers_table()) + (kWorth + worth_table());
}

std::string few_answers_page() { return kIntroduction + (kServers + servers_table()); }

}  // namespace rota::bench
