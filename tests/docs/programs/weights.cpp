// Rank 0 writes the parameters of a model. A model with other parameters then takes them.
#include <rota/replica.h>
#include <rota/safetensors.h>

#include <cstdio>
#include <filesystem>

rota::Model<float> make_model() {
  return rota::Model<float>({2, 2, 1}, {rota::dense(3), rota::relu(), rota::dense(2)});
}

int main() {
  const std::filesystem::path path = "weights.safetensors";
  rota::Communicator comm;
  rota::Replica<float> trained(comm, make_model(), {.seed = 1});
  if (comm.rank() == 0) rota::write_safetensors(path, trained.tensors(), {{"step", "100"}});
  comm.barrier();  // The file is on the disk.

  const rota::SafetensorsFile file(path);
  rota::Replica<float> fresh(comm, make_model(), {.seed = 2});
  fresh.load(file);  // On all ranks, or on none.
  if (comm.rank() == 0) {
    std::printf("after step %s: %s\n", file.metadata().at("step").c_str(),
                fresh.weights_hash() == trained.weights_hash() ? "the same" : "other weights");
    for (const rota::NamedTensor& tensor : file.tensors()) {
      std::printf("%s: %zu values\n", tensor.name.c_str(), tensor.values.count());
    }
    std::filesystem::remove(path);
  }
}
