// How a Communicator is to behave. The defaults are what a program started by rotarun wants.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <rota/codec.h>
#include <rota/export.h>
#include <rota/rank_table.h>

namespace rota {

// A rank's place in a job that no launcher started: each rank is started by hand and told the same
// table. Rank 0 is where all meet, and has to stay until the others are done.
struct ROTA_EXPORT JobByHand {
  // The address of every row is where that rank listens: "host:port", "[::1]:port". A rank whose
  // host is a name listens on every interface. Hosts may be left out, they are taken from the
  // addresses; the transport is tcp. See table_of().
  RankTable table{};
  std::size_t rank = 0;

  // What the ranks prove to each other that they hold: 32 or more random bytes, kept secret. It
  // keeps strangers out; see also CommunicatorOptions::encrypt. May be empty where every address
  // is a loopback one: whoever is on this host may then join. See shared_key().
  std::string key{};
};

// The key that hosts share: what is in the file that ROTA_KEY_FILE names, or else in /etc/rota/key,
// or else in ~/.config/rota/key. Empty where there is none of them. Throws Error kInvalidArgument
// where the named file is missing, is too short, or may be read or written by others.
ROTA_EXPORT std::string shared_key();

struct ROTA_EXPORT CommunicatorOptions {
  // The descriptor over which the launcher is reached. Without it, and not by hand: a world of one.
  std::optional<int> rendezvous_fd;
  std::optional<JobByHand> by_hand;

  // What says that somebody has started this process as one of several, such as "WORLD_SIZE is 4":
  // without a launcher, and not by hand, it would be one of several worlds of one. That is an Error
  // kInvalidArgument; a program that means it empties this, or is run with ROTA_WORLD=1.
  std::string one_of_several;

  // What goes over TCP, between ranks and to the coordinator, is encrypted: TLS 1.3, with the key.
  // Without a launcher this decides, and has to be the same on every rank; with one, --encrypt
  // does, and a rank that wants more than that is refused.
  bool encrypt = false;

  // The plan of every all-reduce: "ring", "direct", "hub", "by-host", "halving-doubling", "tree",
  // "two-level", or "star", the parameter server that the ring replaces; where all ranks share
  // memory also "shared-memory". "auto" chooses by bytes, world and transport, and only among those
  // that give the ring's bits.
  std::string plan = "auto";

  // How all-reduces travel that leave it open and are worth it: sums and means of float32, of 64
  // KiB or more. All others travel as they are. By another one than kIdentity they go along the
  // ring, whatever `plan` is, so that it has to be "auto" or "ring". The same on every rank. See
  // Reduction::by() for one call, BucketOptions::codec for gradients.
  Codec codec = Codec::kIdentity;

  // What stochastic rounding depends on, beside the rank, the call and the element.
  std::uint64_t codec_seed = 0;

  // A file of rota-bench tune's, from which "auto" takes the plans of all-reduces: the fastest that
  // were measured in a world of this topology. They may have other bits than the ring's. Rank 0
  // reads it for all, and what rotarun was told (--tuned) counts before this; a world of one has no
  // use for it. Throws Error kInvalidArgument on every rank where it is for another topology. A
  // communicator of split() takes it where it has the file's topology, and the default otherwise.
  std::string tuned_file;

  // How long one collective may take. Unset: what the launcher was told (--deadline), or 60 s where
  // there is none.
  std::optional<std::chrono::nanoseconds> deadline;

  // The variant of the arithmetic kernels: "avx512", "avx2", "scalar"; empty: the best there is.
  // All give the same bits.
  std::string kernels;

  // How long to wait for the other ranks to start.
  std::chrono::nanoseconds join_timeout = std::chrono::seconds(30);

  // Defaults, with what the launcher left in the environment (ROTA_RENDEZVOUS_FD), with `encrypt`
  // where ROTA_ENCRYPT is 1, with ROTA_TUNED as `tuned_file`, and with what mpirun, mpiexec, srun
  // or torchrun have said of several processes as `one_of_several`. Without a launcher, a TF_CONFIG
  // with several tasks makes `by_hand`: a rank a task, the chief first; an evaluator is a world of
  // one. Throws Error kInvalidArgument where these make no sense or, for TF_CONFIG, contradict
  // other variables of schedulers; and for a ps, which a ring does not need.
  static CommunicatorOptions from_environment();
};

}  // namespace rota
