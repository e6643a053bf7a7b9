// How a Communicator is to behave. The defaults are what a program started by rotarun wants.
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include <rota/export.h>

namespace rota {

struct ROTA_EXPORT CommunicatorOptions {
  // The descriptor over which the launcher is reached; none means a world of one.
  std::optional<int> rendezvous_fd;

  // The plan of every all-reduce: "ring", "direct", "halving-doubling", "tree", "two-level", or
  // "star", the parameter server that the ring replaces. "auto" chooses by bytes, world and
  // transport, and only among those that give the ring's bits.
  std::string plan = "auto";

  // How long one collective may take. Unset: what the launcher was told (--deadline).
  std::optional<std::chrono::nanoseconds> deadline;

  // The variant of the arithmetic kernels: "avx512", "avx2", "scalar"; empty: the best there is.
  // All give the same bits.
  std::string kernels;

  // How long to wait for the other ranks to start.
  std::chrono::nanoseconds join_timeout = std::chrono::seconds(30);

  // Defaults, with what the launcher left in the environment (ROTA_RENDEZVOUS_FD).
  // Throws Error kInvalidArgument where that is not a descriptor's number.
  static CommunicatorOptions from_environment();
};

}  // namespace rota
