// The exact bits that an all-reduce with a codec has to leave, computed serially from the
// documentation: a rank adds its values to the decoded ones in float, and encodes the sum for the
// next rank. The rank that finishes a part encodes it once more, and all ranks keep the decoded
// result. The formats are those of the reference kernels, which tests/kernels/coding_test.cpp
// checks against their definitions.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <rota/codec.h>
#include <rota/reduce_op.h>

#include "kernels/codings.h"

namespace rota::testing {

using Floats = std::vector<float>;

// For codecs that round to the nearest value. Stochastic rounding is left to the library.
class SerialCodedRing {
 public:
  SerialCodedRing(Codec codec, ReduceOp op, std::size_t world_size)
      : codec_(codec),
        factor_(op == ReduceOp::kMean ? 1.0F / static_cast<float>(world_size) : 1.0F),
        n_(world_size) {}

  // Returns the result of all ranks, and updates `feedback`. The index of `contributions` and
  // `feedback` is the rank. A rank with empty feedback feeds nothing back.
  Floats reduce(const std::vector<Floats>& contributions, std::vector<Floats>& feedback) const {
    const std::size_t count = contributions[0].size();
    if (n_ == 1) return contributions[0];
    Floats result(count);
    const std::size_t grain = kernels::coded_grain(codec_);
    for (std::size_t chunk = 0; chunk < n_; ++chunk) {
      const Slice grains = slice_of((count + grain - 1) / grain, chunk, n_);
      const std::size_t begin = std::min(grains.offset * grain, count);
      const std::size_t end = std::min((grains.offset + grains.count) * grain, count);
      reduce_chunk(chunk, {begin, end - begin}, contributions, feedback, result);
    }
    return result;
  }
  Floats reduce(const std::vector<Floats>& contributions) const {
    std::vector<Floats> none(n_);
    return reduce(contributions, none);
  }

 private:
  void reduce_chunk(std::size_t chunk, Slice slice, const std::vector<Floats>& contributions,
                    std::vector<Floats>& feedback, Floats& result) const {
    Floats decoded;
    for (std::size_t hop = 1; hop <= n_; ++hop) {
      const std::size_t rank = (chunk + hop) % n_;
      const bool last = hop == n_;
      Floats partial(slice.count);
      for (std::size_t i = 0; i < slice.count; ++i) {
        partial[i] = contributions[rank][slice.offset + i];
        if (!feedback[rank].empty()) partial[i] += feedback[rank][slice.offset + i];
        if (hop > 1) partial[i] += decoded[i];
        if (last) partial[i] *= factor_;
      }
      decoded = there_and_back(partial);
      for (std::size_t i = 0; i < slice.count && !feedback[rank].empty(); ++i) {
        const float unit = last ? 1 / factor_ : 1.0F;
        feedback[rank][slice.offset + i] = (partial[i] - decoded[i]) * unit;
      }
    }
    std::ranges::copy(decoded, result.begin() + static_cast<std::ptrdiff_t>(slice.offset));
  }

  Floats there_and_back(const Floats& values) const {
    const kernels::Coding& coding = kernels::reference<kernels::Codings>().coding(codec_);
    std::vector<std::byte> coded(kernels::coded_bytes(codec_, values.size()));
    coding.encode(coded.data(), std::as_bytes(std::span(values)).data(), values.size(), {});
    Floats decoded(values.size());
    auto* to = std::as_writable_bytes(std::span(decoded)).data();
    coding.decode(to, to, coded.data(), values.size(), 1);
    return decoded;
  }

  Codec codec_;
  float factor_;
  std::size_t n_;
};

}  // namespace rota::testing
