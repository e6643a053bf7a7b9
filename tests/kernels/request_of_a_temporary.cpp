// A test compiles this file and expects an error: the Request would read memory that is gone.
#include <array>
#include <vector>

#include <rota/communicator.h>

void begin(rota::Communicator& communicator, std::vector<float>& all) {
  communicator.all_gather(std::array{1.0F, 2.0F}, all);
  communicator.all_gather_async(std::array{1.0F, 2.0F}, all).wait();
}
