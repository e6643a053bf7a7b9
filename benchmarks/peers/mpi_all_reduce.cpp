// Measures an MPI library's all-reduce by the method that rota's is measured by.
#define OMPI_SKIP_MPICXX 1  // The C++ bindings that MPI itself has given up.
#include <mpi.h>

#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "all_reduce/method.h"
#include "all_reduce/method_options.h"

namespace rota::bench {
namespace {

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

  std::span<float> allocate(std::size_t count) override {
    void* memory = nullptr;
    const auto bytes = static_cast<MPI_Aint>(count * sizeof(float));
    if (MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory) != MPI_SUCCESS) throw std::bad_alloc();
    memory_.reset(memory);
    return {static_cast<float*>(memory), count};
  }
  void all_reduce(std::span<float> values) override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  void take_largest(std::span<double> values) override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
  }

 private:
  struct Free {
    void operator()(void* memory) const noexcept { MPI_Free_mem(memory); }
  };
  std::string name_;
  std::unique_ptr<void, Free> memory_;
};

}  // namespace
}  // namespace rota::bench

int main(int argument_count, char** arguments) {
  using namespace rota::bench;
  MPI_Init(&argument_count, &arguments);  // An error of MPI's ends the job, as is its default.
  try {
    auto options = method_options("mpirun -np RANKS mpi_all_reduce");
    options.add_options()("name", "What to call it in the results",
                          cxxopts::value<std::string>()->default_value("mpi"));
    const auto given = options.parse(argument_count, arguments);
    MpiGroup group(given["name"].as<std::string>());
    if (given.count("help") == 0) {
      measure(group, method_from(given));
    } else if (group.rank() == 0) {
      std::cout << options.help() << '\n';
    }
  } catch (const std::exception& error) {
    std::cerr << "mpi_all_reduce: " << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
