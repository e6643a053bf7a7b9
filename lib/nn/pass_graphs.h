// Repeats passes of a model on a device: from its third time on, a pass is one launch of a CUDA
// graph and not one launch for each kernel.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include <rota/cuda_stream.h>

#include "nn/device_work.h"

namespace rota::nn {

// One thread at a time may use a PassGraphs.
class PassGraphs {
 public:
  // All that the operations of a pass depend on, besides the memory that clear() is for.
  struct Key {
    bool is_backward = false;
    bool adds = false;  // To the score, or to the gradients.
    std::size_t samples = 0;
    const float* inputs = nullptr;
    const std::uint8_t* pixels = nullptr;
    const std::uint8_t* labels = nullptr;
    bool operator==(const Key&) const noexcept = default;
  };

  // `work` is borrowed.
  explicit PassGraphs(DeviceWork& work);
  PassGraphs(const PassGraphs&) = delete;
  PassGraphs& operator=(const PassGraphs&) = delete;
  ~PassGraphs() { clear(); }  // The stream must be idle.

  // Puts a pass on the stream. `pass` is a function that does nothing else, and does the same for
  // equal keys. It is not called if there is a graph of the key. Returns whether a graph was
  // launched. Throws Error kSystem.
  //
  // The first time, the pass is never captured: libraries may allocate memory for shapes that they
  // have not seen. If the device refuses a graph, a line on stderr says so, and no pass is captured
  // any more.
  template <class Pass>
  bool run(const Key& key, const Pass& pass) {
    if (launch(key)) return true;
    if (begins_capture(key)) {
      try {
        pass();
      } catch (const std::exception& error) {
        refuse(error.what());
      }
      if (ends_capture(key)) return launch(key);
    }
    pass();
    warn();
    return false;
  }

  // Drops all graphs, whose operations may use memory that is about to be freed. The stream must be
  // idle.
  void clear() noexcept;

 private:
  struct Known {
    Key key;
    cuda::Handle graph = 0;  // 0: the pass has run once.
  };

  Known* find(const Key& key) noexcept;
  bool launch(const Key& key);
  bool begins_capture(const Key& key);
  bool ends_capture(const Key& key);
  void refuse(const std::string& why);
  void warn();

  DeviceWork& work_;
  std::vector<Known> known_;
  bool is_refused_ = false;
  std::string why_;  // Empty if there is nothing to say.
};

}  // namespace rota::nn
