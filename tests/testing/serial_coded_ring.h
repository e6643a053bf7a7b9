// What an all-reduce by a codec has to leave, bit for bit, computed serially from what the docs
// say: a rank adds to what it has decoded, in float, and encodes that for the next one; who
// finishes a part encodes it once more, and all keep what was decoded of it. The formats themselves
// are those of the reference kernels, which tests/kernels/coding_test.cpp holds against their
// definitions.
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

// Of codecs that round to the nearest: by chance is the library's own business.
class SerialCodedRing {
 public:
  SerialCodedRing(Codec codec, ReduceOp op, std::size_t world_size)
      : codec_(codec),
        factor_(op == ReduceOp::kMean ? 1.0F / static_cast<float>(world_size) : 1.0F),
        n_(world_size) {}

  // `contributions` and `feedback` by rank; an empty feedback is none.
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
