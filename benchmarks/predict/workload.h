// What a rank computes in a training step, and when each gradient is final. A workload is read from
// a file:
//
//   rota-workload 1                  # What the file is, and the version of its form.
//   name resnet-101                  # For people.
//   forward 0.105                    # Seconds of the forward pass.
//   update 0.004                     # Seconds of the optimizer for all parameters; may be 0.
//   gradient conv1 37632 0.0031      # Name, bytes, and seconds of its part of the backward pass.
//   gradient fc 8196000 0.0009       # Gradients are in forward order: the last one is final first.
//
// Text after '#' is a comment. All values are of float32.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rota::bench {

struct Workload {
  struct Gradient {
    std::string name;
    std::size_t count = 0;  // Elements.
    double seconds = 0;     // Of the backward pass, until the gradient is final.
    friend bool operator==(const Gradient&, const Gradient&) = default;
  };

  std::string name;
  double forward_seconds = 0;
  double update_seconds = 0;
  std::vector<Gradient> gradients;  // In forward order.
  friend bool operator==(const Workload&, const Workload&) = default;
};

// Parses a workload. `name` names the text in errors. Throws std::invalid_argument, which names the
// line, for a text of another form. Also throws it for a gradient of no bytes or no time.
Workload parse_workload(const std::string& name, std::string_view text);

// Returns the text that parse_workload() reads. A name that is not one word is left out: it is the
// path of a file without a line 'name'.
std::string to_text(const Workload& workload);

// Returns the bytes of all gradients.
std::size_t gradient_bytes_of(const Workload& workload);

// Returns the seconds of a step of one rank alone.
double alone_seconds_of(const Workload& workload);

}  // namespace rota::bench
