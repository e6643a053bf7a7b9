// Has the options of a Communicator. The defaults are right for a program that rotarun starts.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <rota/codec.h>
#include <rota/export.h>
#include <rota/rank_table.h>

namespace rota {

// A rank's place in a job without rotarun: each rank is started by hand, with the same table, or by
// another launcher. All ranks connect to rank 0 to find each other. Rank 0 must not end before the
// others are done. Ranks of one machine and one user share memory, unless `table.transport` is
// "tcp".
struct ROTA_EXPORT JobByHand {
  // The address in each row is where that rank listens: "host:port", "[::1]:port". If the host is a
  // name, the rank listens on every interface. If a row has no `host`, the host is that of the
  // address. See table_of(). With `meeting`, the table has a row for each rank, without addresses.
  RankTable table{};
  std::size_t rank = 0;

  // Where the ranks learn each other's addresses; empty: the table has all addresses. "host:port"
  // or "@name:port": rank 0 listens there. "@name" is the name of an abstract Unix socket, for
  // processes of one user on one machine. "pmix": a PMIx server, which the variables PMIX_* name.
  // "pmi:5": a server of PMI-1, at descriptor 5. Joining through it throws Error kInvalidArgument
  // if this process has loaded an MPI library, which needs the server for itself.
  std::string meeting{};

  // The secret key of the job: 32 or more random bytes. Ranks prove to each other that they have
  // the key, so that strangers cannot join. The key may be empty if every address is a loopback
  // address: then any process on this host may join. It may also be empty if the ranks meet through
  // a server: then rank 0 draws a key, and listens at a local name if the hosts in the table are
  // one. With a key, it listens at a port. See shared_key() and CommunicatorOptions::encrypt.
  std::string key{};

  // Tells the job apart from other jobs that meet at the same place with the same `key`, such as
  // "101.0" for a step of Slurm: their ranks do not let each other in. Must be the same on every
  // rank; may be empty.
  std::string id{};
};

// Returns the key that the hosts of a job share. Reads the key from the file that ROTA_KEY_FILE
// names. If ROTA_KEY_FILE is unset, reads /etc/rota/key or, if there is no such file,
// ~/.config/rota/key. Returns an empty text if there is no file. Throws Error kInvalidArgument if
// the named file is missing, or if the file is too short, or if other users may read or write it.
ROTA_EXPORT std::string shared_key();

struct ROTA_EXPORT CommunicatorOptions {
  // The descriptor of the connection to the launcher. Without it and without `by_hand`, the
  // Communicator is a world of one.
  std::optional<int> rendezvous_fd;
  std::optional<JobByHand> by_hand;

  // A sign that this process was started as one of several, such as "WORLD_SIZE is 4"; empty if
  // there is none. Without a launcher and without `by_hand`, each such process would be a world of
  // one, so joining throws Error kInvalidArgument. A program that wants to be alone clears this
  // string, or is run with ROTA_WORLD=1.
  std::string one_of_several;

  // Encrypts all TCP traffic, between ranks and to the coordinator: TLS 1.3, with the job's key.
  // Without a launcher this option decides, and must be the same on every rank. With a launcher,
  // --encrypt decides; a rank that sets this option without --encrypt is refused.
  bool encrypt = false;

  // The ports at which this rank may listen for other ranks, such as "7700-7955". Empty: those of
  // the variable ROTA_PORTS; without this variable, ports that the system chooses. Where neither
  // rotarun nor a table gives a rank its address, rank 0 takes the first free port, and the ranks'
  // other connections never take the first port of the range. Joining throws Error kSystem if no
  // port of the range is free. Groups of ranks of several hosts listen at the range while they are
  // made, without its first port; if no port is free, split() and for_threads() throw kSystem.
  // Joining throws Error kInvalidArgument for any other text.
  std::string ports;

  // The plan of every all-reduce: "ring", "direct", "hub", "by-host", "halving-doubling", "tree",
  // "two-level", or "star" (a parameter server, as a baseline for the ring). If all ranks share
  // memory, "shared-memory" is possible, too. With "mpi", a communicator whose messages go over MPI
  // uses MPI's own collectives, for all calls that MPI can make. Its groups from split() use rota's
  // plans, and for_threads() throws Error kInvalidArgument. With "nccl", values on devices go by
  // NCCL's. "auto" chooses by bytes, world and transport, only among plans that give the ring's
  // bits.
  std::string plan = "auto";

  // With the plan "nccl" and NCCL 2.19 or later: registers memory of allocate_device() with NCCL,
  // which then may move values without copies of its own. Must be the same on every rank. NCCL
  // demands that a call's buffers are registered on all ranks or on none. So either all buffers of
  // a call, on all ranks, lie in memory of allocate_device(), or none does, and either all ranks
  // have a separate input or none. NCCL does not compare this: calls that differ may hang, or give
  // wrong values. The memory of a DeviceBlock that is destroyed goes back to the device later: see
  // docs/guide/over_nccl.md.
  bool registers_buffers = false;

  // The codec of all-reduces that name no codec, if they are sums or means of float32, of 64 KiB or
  // more. Other all-reduces travel uncoded, unless they name a codec. Coded all-reduces use the
  // ring, so with a codec other than kIdentity, `plan` must be "auto" or "ring". Must be the same
  // on every rank. Reduction::by() sets the codec of one call, BucketOptions::codec that of
  // gradients.
  Codec codec = Codec::kIdentity;

  // The seed of stochastic rounding. The rounding also depends on the rank, the element, and the
  // index of the call, or on Reduction::drawn_by().
  std::uint64_t codec_seed = 0;

  // A file from `rota-bench tune`, from which "auto" takes the plans of all-reduces: the fastest
  // plans that were measured in a world of the same topology. Their bits may differ from the
  // ring's. Rank 0 reads the file for all ranks. rotarun's --tuned has priority over this option; a
  // world of one ignores it. Joining throws Error kInvalidArgument on every rank if the file is for
  // another topology. A communicator that split() makes uses the file if the communicator has the
  // file's topology. Otherwise it uses the default plans.
  std::string tuned_file;

  // How long one collective may take. Unset: the launcher's --deadline, or 60 s without a launcher.
  std::optional<std::chrono::nanoseconds> deadline;

  // The variant of kernels: "avx512", "avx2", "neon-fp16", "neon" or "scalar". Empty: the best one
  // that this machine supports. All variants give the same bits. Reductions, codecs and the
  // optimizers of replicas use this variant. Convolutions of a Model always take the best one.
  std::string kernels;

  // The path of rota's library for an MPI, such as "/usr/lib/librota_mpi_openmpi.so.0.1". It is
  // used only if rotarun was started with --transport mpi. The library stays open.
  std::string mpi_library;

  // How long to wait for the other ranks to start.
  std::chrono::nanoseconds join_timeout = std::chrono::seconds(30);

  // Returns the defaults, changed by environment variables. rotarun sets ROTA_RENDEZVOUS_FD;
  // ROTA_ENCRYPT=1 sets `encrypt`; ROTA_TUNED sets `tuned_file`;
  // ROTA_MPI_LIBRARY, which rotarun sets with --transport mpi, sets `mpi_library`. Without rotarun,
  // the variables of mpirun, mpiexec, srun or torchrun set `by_hand`: one rank for each process. So
  // does a TF_CONFIG with several tasks: one rank for each task, the chief first; an evaluator is a
  // world of one. Other variables that report several processes set `one_of_several`. Throws Error
  // kInvalidArgument if a variable makes no sense, or if variables contradict each other. Also
  // throws this error for a parameter server (ps), which rota does not need. Throws Error kSystem
  // if the size of the world is known to a PMIx server only, which does not answer.
  static CommunicatorOptions from_environment();
};

}  // namespace rota
