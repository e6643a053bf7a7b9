// The page about errors quotes real messages: this test provokes each of them, except those about
// GPUs. The files of this test have the names that the page uses.
#include <gtest/gtest.h>
#include <rota/gradient_buckets.h>
#include <rota/idx.h>
#include <rota/replica.h>
#include <rota/safetensors.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>

#include "docs/errors_page.h"
#include "memory/arena.h"
#include "os/host.h"
#include "os/shared_mapping.h"
#include "os/system_error.h"
#include "testing/on_every_rank.h"
#include "testing/paths.h"
#include "testing/said_by_child.h"
#include "testing/tcp_world.h"
#include "training/thread_ranks.h"

namespace rota {
namespace {

using testing::expect_quoted;

Error error_of(const std::function<void()>& provoke) {
  try {
    provoke();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::kSystem, "nothing was thrown"};
}

// Returns the error of rank `rank` when `world_size` threads run `body`.
Error error_of_rank(std::size_t rank, std::size_t world_size,
                    const std::function<void(Communicator&)>& body) {
  return testing::error_of(testing::outcomes_of_ranks(world_size, body)[rank]);
}

// Returns the error of a rank that waits for an absent rank. If `leaves`, the communicator of the
// absent rank has ended. Otherwise the waiting rank waits until its deadline.
Error error_of_waiting(bool leaves) {
  CommunicatorOptions options;
  options.deadline = std::chrono::milliseconds(500);
  std::vector<Communicator> world = Communicator::for_threads(2, options);
  if (leaves) world.pop_back();
  std::vector<float> values(1000);
  return error_of([&] { world[0].all_reduce(values, ReduceOp::kSum); });
}

TEST(ErrorsPage, QuotesInvalidArgument) {
  Communicator alone{CommunicatorOptions{}};
  std::vector<float> values(10);
  expect_quoted(error_of([&] { alone.broadcast(values, 4); }), ErrorCode::kInvalidArgument);
  expect_quoted(error_of([&] {
                  alone.all_reduce(std::span(values).first(6), std::span(values).last(6),
                                   ReduceOp::kSum);
                }),
                ErrorCode::kInvalidArgument);
  std::vector<int> integers(10);
  expect_quoted(error_of([&] { alone.all_reduce(integers, ReduceOp::kMean); }),
                ErrorCode::kInvalidArgument);
}

TEST(ErrorsPage, QuotesTheMessageOfOneOfSeveral) {
  CommunicatorOptions options;
  options.one_of_several = "WORLD_SIZE is 4";
  expect_quoted(error_of([&] { const Communicator alone{options}; }), ErrorCode::kInvalidArgument);
}

TEST(ErrorsPage, QuotesTheRefusalOfAFork) {
  std::vector<Communicator> world = Communicator::for_threads(1, CommunicatorOptions{});
  const auto said = testing::said_by_child(
      [&] { return std::string(error_of([&] { world[0].barrier(); }).what()); });
  ASSERT_TRUE(said);
  expect_quoted({ErrorCode::kInvalidArgument, *said}, ErrorCode::kInvalidArgument);
}

// A process that a rank starts has the rank's variable, but nothing at that descriptor.
TEST(ErrorsPage, QuotesTheRefusalOfAProcessThatARankStarts) {
  CommunicatorOptions options;
  options.rendezvous_fd = 99;
  expect_quoted(error_of([&] { const Communicator rank(options); }), ErrorCode::kInvalidArgument);
}

// Returns the error of rank 1 of two over TCP, where only rank 1 receives. The receiver compares
// the calls.
Error error_of_receiver(const std::function<void(Communicator&)>& body) {
  auto world = testing::tcp_world_of(2, {});
  std::vector<Error> errors(2, Error(ErrorCode::kSystem, "nothing was thrown"));
  testing::on_every_rank(
      world, [&](Communicator& comm) { errors[comm.rank()] = error_of([&] { body(comm); }); });
  return errors[1];
}

TEST(ErrorsPage, QuotesMismatch) {
  expect_quoted(error_of_receiver([](Communicator& comm) {
                  std::vector<float> values(comm.rank() == 0 ? 100 : 200);
                  comm.broadcast(values, 0);
                }),
                ErrorCode::kMismatch);
  expect_quoted(error_of_rank(0, 2,
                              [](Communicator& comm) {
                                std::vector<float> weights(comm.rank() == 0 ? 6 : 8);
                                broadcast_parameters(comm, {weights});
                              }),
                ErrorCode::kMismatch);
}

TEST(ErrorsPage, QuotesTimeout) { expect_quoted(error_of_waiting(false), ErrorCode::kTimeout); }

TEST(ErrorsPage, QuotesPeerLost) { expect_quoted(error_of_waiting(true), ErrorCode::kPeerLost); }

TEST(ErrorsPage, QuotesAborted) {
  expect_quoted(error_of_rank(0, 2,
                              [](Communicator& comm) {
                                if (comm.rank() == 1) comm.abort("the disk is full");
                                comm.barrier();
                              }),
                ErrorCode::kAborted);
}

TEST(ErrorsPage, QuotesClosed) {
  Communicator communicator{CommunicatorOptions{}};
  const Communicator other = std::move(communicator);
  expect_quoted(error_of([&] { communicator.barrier(); }),  // NOLINT: that is the point.
                ErrorCode::kClosed);
}

TEST(ErrorsPage, QuotesNoMemory) {
  ThreadWorldOptions options;
  options.world_size = 2;
  std::vector<Communicator> world = ThreadWorld::make(options);
  expect_quoted(error_of([&] { world[0].allocate(std::size_t{1} << 30); }), ErrorCode::kNoMemory);
}

// Method: an arena is told how little the host has left.
TEST(ErrorsPage, QuotesTheLackOfMemoryOfAHost) {
  os::SharedMapping mapping(os::make_shared_memory("errors-test", std::size_t{1} << 30));
  const auto arena = std::make_shared<memory::Arena>(mapping, 0, nullptr, os::page_bytes(),
                                                     [] { return std::uint64_t{134'217'728}; });
  expect_quoted(error_of([&] { arena->allocate(std::size_t{1} << 28); }), ErrorCode::kNoMemory);
}

TEST(ErrorsPage, QuotesWhatFilesCause) {
  const std::string folder = testing::test_path("errors_test_data");
  std::filesystem::create_directories(folder);
  expect_quoted(error_of([&] { read_idx_folder(folder); }), ErrorCode::kNotFound, folder);
  std::filesystem::create_symlink("link", folder + "/link");
  expect_quoted(error_of([&] { read_idx(folder + "/link", folder + "/link"); }), ErrorCode::kSystem,
                folder);
  std::ofstream(folder + "/images") << "Error 404";
  std::ofstream(folder + "/labels") << "Error 404";
  expect_quoted(error_of([&] { read_idx(folder + "/images", folder + "/labels"); }),
                ErrorCode::kBadData, folder);
  expect_quoted(error_of([&] { write_safetensors(folder + "/nowhere/model.safetensors", {}); }),
                ErrorCode::kCannotWrite, folder);
  std::filesystem::remove_all(folder);
}

// The limits of a process that runs this test are not those of the page.
TEST(ErrorsPage, QuotesWhatErrorsSayOfLimits) {
  const auto has = [](const std::string& text) {
    return testing::errors_page().find(text + "\n```") != std::string::npos;
  };
  EXPECT_TRUE(has("Cannot allocate memory" + os::advice_on_memory(8192000000)));
  EXPECT_TRUE(has("Resource temporarily unavailable" + os::advice_on_processes(100)));
}

TEST(ErrorsPage, QuotesNotFinite) {
  Communicator alone{CommunicatorOptions{}};
  Replica<float> replica(alone, Model<float>({2, 2, 1}, {dense(3)}), {});
  const std::vector<float> inputs(4, std::numeric_limits<float>::quiet_NaN());
  const std::vector<std::uint8_t> labels = {1};
  const std::vector<std::uint64_t> samples = {0};
  const Batch<float> batch{.inputs = inputs, .labels = labels, .samples = samples};
  expect_quoted(error_of([&] { replica.step(batch, {.epoch = 2, .step = 17}); }),
                ErrorCode::kNotFinite);
}

}  // namespace
}  // namespace rota
