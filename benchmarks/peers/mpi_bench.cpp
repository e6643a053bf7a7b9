// Measures the collectives of an MPI library by the method that measures rota's. The program is
// built once for each MPI, whose name is ROTA_MPI_NAME.
#define OMPI_SKIP_MPICXX 1  // Skips the C++ bindings, which MPI itself has removed.
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "collectives/run.h"
#include "scale/peer.h"

namespace rota::bench {
namespace {

constexpr int kMpiRoot = static_cast<int>(kRoot);

MPI_Datatype mpi_type(DataType type) {
  switch (type) {
    case DataType::kByte:
      return MPI_BYTE;
    case DataType::kFloat32:
      return MPI_FLOAT;
    case DataType::kFloat64:
      return MPI_DOUBLE;
    case DataType::kInt8:
      return MPI_INT8_T;
    case DataType::kUint8:
      return MPI_UINT8_T;
    case DataType::kInt32:
      return MPI_INT32_T;
    case DataType::kInt64:
      return MPI_INT64_T;
    case DataType::kFloat16:
    case DataType::kBfloat16:
      break;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op mpi_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return MPI_SUM;
    case ReduceOp::kProduct:
      return MPI_PROD;
    case ReduceOp::kMin:
      return MPI_MIN;
    case ReduceOp::kMax:
      return MPI_MAX;
    case ReduceOp::kBitAnd:
      return MPI_BAND;
    case ReduceOp::kBitOr:
      return MPI_BOR;
    case ReduceOp::kBitXor:
      return MPI_BXOR;
    case ReduceOp::kMean:
      break;
  }
  return MPI_OP_NULL;
}

// The arguments that all calls have in common.
struct Operands {
  const void* input = nullptr;
  void* output = nullptr;
  int all = 0;   // Elements of all parts.
  int part = 0;  // Elements of one part.
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
};

class MpiGroup final : public Group {
 public:
  explicit MpiGroup(std::string name) : name_(std::move(name)) {}

  std::string name() const override { return name_; }
  std::size_t rank() const override {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return static_cast<std::size_t>(rank);
  }
  std::size_t world_size() const override {
    int world_size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    return static_cast<std::size_t>(world_size);
  }

  std::shared_ptr<std::byte> allocate(std::size_t bytes, Memory memory) override {
    if (memory == Memory::kAny) return plain_memory(bytes);
    void* address = nullptr;
    const auto size = static_cast<MPI_Aint>(bytes);
    if (MPI_Alloc_mem(size, MPI_INFO_NULL, &address) != MPI_SUCCESS) throw std::bad_alloc();
    return {static_cast<std::byte*>(address), [](std::byte* at) { MPI_Free_mem(at); }};
  }

  PreparedCall prepare(const Work& work, const Buffers& buffers) override {
    const Layout layout = layout_of(work, rank(), world_size());
    const std::size_t size = bytes_of(work.type);
    const Operands operands{.input = buffers.input + layout.input.offset * size,
                            .output = buffers.output + layout.output.offset * size,
                            .all = static_cast<int>(work.total),
                            .part = static_cast<int>(work.total / world_size()),
                            .type = mpi_type(work.type),
                            .op = mpi_op(work.op)};
    if (operands.type == MPI_DATATYPE_NULL) return {};
    if (reduces(work.collective) && operands.op == MPI_OP_NULL) return {};
    if (work.collective == Collective::kPingPong) return {ping_pong(operands, buffers), "-"};
    return {work.placement == Placement::kInPlace
                ? in_place_call(work.collective, operands, buffers.output)
                : out_of_place_call(work.collective, operands),
            "-"};
  }

  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }

  std::vector<double> gather_from_all(std::span<const double> values) override {
    std::vector<double> all(world_size() * values.size());
    const auto count = static_cast<int>(values.size());
    MPI_Allgather(values.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, MPI_COMM_WORLD);
    return all;
  }

 private:
  // Returns no call for a reduce-scatter in place: MPI leaves the result at the start of the
  // buffer, but layout_of() defines another place.
  std::function<void()> in_place_call(Collective collective, Operands o, void* all) const {
    const bool is_root = rank() == kRoot;
    const void* at_root = is_root ? MPI_IN_PLACE : all;
    switch (collective) {
      case Collective::kAllReduce:
        return [o, all] { MPI_Allreduce(MPI_IN_PLACE, all, o.all, o.type, o.op, MPI_COMM_WORLD); };
      case Collective::kReduce:
        return [o, all, at_root] {
          MPI_Reduce(at_root, all, o.all, o.type, o.op, kMpiRoot, MPI_COMM_WORLD);
        };
      case Collective::kAllGather:
        return [o, all] {
          MPI_Allgather(MPI_IN_PLACE, 0, o.type, all, o.part, o.type, MPI_COMM_WORLD);
        };
      case Collective::kGather:
        return [o, all, input = is_root ? MPI_IN_PLACE : o.input] {
          MPI_Gather(input, o.part, o.type, all, o.part, o.type, kMpiRoot, MPI_COMM_WORLD);
        };
      case Collective::kAllToAll:
        return [o, all] {
          MPI_Alltoall(MPI_IN_PLACE, 0, o.type, all, o.part, o.type, MPI_COMM_WORLD);
        };
      case Collective::kBroadcast:
        return [o, all] { MPI_Bcast(all, o.all, o.type, kMpiRoot, MPI_COMM_WORLD); };
      case Collective::kBarrier:
        return [] { MPI_Barrier(MPI_COMM_WORLD); };
      case Collective::kReduceScatter:
      case Collective::kScatter:
      case Collective::kPingPong:
        break;
    }
    return {};
  }

  static std::function<void()> out_of_place_call(Collective collective, Operands o) {
    switch (collective) {
      case Collective::kAllReduce:
        return [o] { MPI_Allreduce(o.input, o.output, o.all, o.type, o.op, MPI_COMM_WORLD); };
      case Collective::kReduce:
        return
            [o] { MPI_Reduce(o.input, o.output, o.all, o.type, o.op, kMpiRoot, MPI_COMM_WORLD); };
      case Collective::kReduceScatter:
        return [o] {
          MPI_Reduce_scatter_block(o.input, o.output, o.part, o.type, o.op, MPI_COMM_WORLD);
        };
      case Collective::kAllGather:
        return [o] {
          MPI_Allgather(o.input, o.part, o.type, o.output, o.part, o.type, MPI_COMM_WORLD);
        };
      case Collective::kGather:
        return [o] {
          MPI_Gather(o.input, o.part, o.type, o.output, o.part, o.type, kMpiRoot, MPI_COMM_WORLD);
        };
      case Collective::kScatter:
        return [o] {
          MPI_Scatter(o.input, o.part, o.type, o.output, o.part, o.type, kMpiRoot, MPI_COMM_WORLD);
        };
      case Collective::kAllToAll:
        return [o] {
          MPI_Alltoall(o.input, o.part, o.type, o.output, o.part, o.type, MPI_COMM_WORLD);
        };
      case Collective::kBroadcast:
      case Collective::kPingPong:
      case Collective::kBarrier:
        break;
    }
    return {};
  }

  // In place, input and output are the same buffer.
  std::function<void()> ping_pong(Operands o, const Buffers& buffers) const {
    if (rank() > kPingPongPeer) return [] {};
    void* const output = buffers.output;
    if (rank() == kRoot) {
      return [o, output] {
        const int peer = static_cast<int>(kPingPongPeer);
        MPI_Send(o.input, o.all, o.type, peer, 0, MPI_COMM_WORLD);
        MPI_Recv(output, o.all, o.type, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      };
    }
    return [o, output] {
      MPI_Recv(output, o.all, o.type, kMpiRoot, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(output, o.all, o.type, kMpiRoot, 0, MPI_COMM_WORLD);
    };
  }

  std::string name_;
};

void add_name(cxxopts::Options& options) {
  options.add_options()("name", "The name in the results",
                        cxxopts::value<std::string>()->default_value(ROTA_MPI_NAME));
}

std::unique_ptr<Group> make_group(const cxxopts::ParseResult& given) {
  return std::make_unique<MpiGroup>(given["name"].as<std::string>());
}

// Starts MPI. Only `scale` calls MPI from a second thread. Other measurements ask for one thread,
// with which MPI may be faster. By default an MPI error ends the job.
void start_mpi(int argument_count, char** arguments) {
  const bool has_thread = wants_scale(argument_count, arguments);
  const int wanted = has_thread ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argument_count, &arguments, wanted, &provided);
  if (provided >= wanted) return;
  std::cerr << "mpi_bench: this MPI does not let a second thread call it\n";
  MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace
}  // namespace rota::bench

int main(int argument_count, char** arguments) {
  using namespace rota::bench;
  start_mpi(argument_count, arguments);
  int exit_code = 1;
  try {
    exit_code = run_peer(
        {.usage = "mpirun -np RANKS mpi_bench", .add_options = add_name, .make_group = make_group},
        argument_count, arguments);
  } catch (const std::exception& error) {
    std::cerr << "mpi_bench: " << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return exit_code;
}
