// The costs that `rota-bench tune --calibration FILE` has measured on one machine, in a file:
//
//   rota-calibration 1                  # What the file is, and the version of its form.
//   machine Intel Xeon, 2 CPUs          # The machine that was measured.
//   transport tcp                       # As in a tuned file: tcp, tcp encrypted, shm, …
//   within-host 2e-06 5e-07 1e-10       # Seconds: latency, busy at each end, for each byte.
//   between-hosts 3e-05 4e-06 8e-09     # The same.
//   additions 2e-10                     # Seconds for each byte.
//   codec int8 3e-10 2e-10              # Seconds to encode and to decode each byte of float32.
//
// Text after '#' is a comment. A link that the measured world did not have is left out.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include <rota/codec.h>

#include "predict/prediction.h"

namespace rota::bench {

struct Calibration {
  std::string machine;
  std::string transport;
  WorldModel costs;  // Without ranks and without a codec.
  std::map<Codec, CodecCosts> codecs;
};

// Parses a calibration. `name` names the text in errors. Throws std::invalid_argument, which names
// the line, for a text of another form or a cost that is negative, not finite, or 0 where it cannot
// be.
Calibration parse_calibration(const std::string& name, std::string_view text);

// Returns the text that parse_calibration() reads.
std::string to_text(const Calibration& calibration);

// Throws std::invalid_argument unless the calibration is of this machine and transport. `name`
// names the calibration.
void require_same(const std::string& name, const Calibration& calibration,
                  const std::string& machine, const std::string& transport);

// Returns the name of this machine: the model of its CPU, and the number of its CPUs.
std::string this_machine();

}  // namespace rota::bench
