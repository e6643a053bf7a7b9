// A coordinator and the messages it has sent, for its tests.
#pragma once
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/coordinator.h"

namespace rota::rendezvous {

inline Job job_of(std::size_t world_size) {
  Job job;
  job.table.transport = "shm";
  job.table.rows.resize(world_size);
  job.deadline = std::chrono::seconds(7);
  return job;
}

class CoordinatorWorld {
 public:
  explicit CoordinatorWorld(std::size_t world_size) : coordinator(job_of(world_size)) {}

  // Lets every rank join, and discards the welcomes.
  void join_all(std::size_t world_size) {
    for (std::size_t rank = 0; rank < world_size; ++rank) say(rank, {.type = MessageType::kJoin});
    sent();
  }

  void say(std::size_t rank, const Message& message) { coordinator.on_message(rank, message, now); }
  void put(std::size_t rank, const std::string& key, const std::string& value) {
    say(rank, {.type = MessageType::kPut, .key = key, .text = value});
  }
  void get(std::size_t rank, std::uint32_t id, const std::string& key, int seconds = 10) {
    say(rank, {.type = MessageType::kGet,
               .id = id,
               .timeout = std::chrono::seconds(seconds),
               .key = key});
  }
  void barrier(std::size_t rank, std::uint32_t id, const std::string& key, int seconds = 10) {
    say(rank, {.type = MessageType::kBarrier,
               .id = id,
               .timeout = std::chrono::seconds(seconds),
               .key = key});
  }
  void pass(int seconds) {
    now += std::chrono::seconds(seconds);
    coordinator.on_time(now);
  }

  // Returns the messages sent since the last call, each with its rank.
  std::vector<Outgoing> sent() { return coordinator.take_outbox(); }

  // Returns the messages sent to one rank since the last call. Discards the messages to other
  // ranks.
  std::vector<Message> sent_to(std::size_t rank) {
    std::vector<Message> messages;
    for (Outgoing& outgoing : coordinator.take_outbox()) {
      if (outgoing.rank == rank) messages.push_back(std::move(outgoing.message));
    }
    return messages;
  }

  Coordinator coordinator;
  base::TimePoint now{};
};

}  // namespace rota::rendezvous
