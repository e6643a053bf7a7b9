// The loops of the kernels as anybody would write them, for `./dev arm --cycles`: GCC makes vectors
// of them by itself. A function has the title of its kernel's row in cycles.py. No array overlaps
// another one, and the compiler knows it.
#include <arm_neon.h>

namespace {

template <class To, class From>
To bits_of(From from) {
  return __builtin_bit_cast(To, from);
}

float of_bfloat16(unsigned short number) { return bits_of<float>(unsigned{number} << 16); }

// Rounds to nearest, as the sums do: a NaN is the sum of bfloat16.
unsigned short to_bfloat16(float number) {
  const auto bits = bits_of<unsigned>(number);
  return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Has the order of floats, with -0 before +0. It is its own inverse.
int turned(int bits) { return bits < 0 ? bits ^ 0x7fff'ffff : bits; }

bool is_nan(int bits) { return (bits & 0x7fff'ffff) > 0x7f80'0000; }

using Count = unsigned long;

}  // namespace

extern "C" {

void float32_sum(float* __restrict to, const float* __restrict from, Count count) {
  for (Count i = 0; i < count; ++i) to[i] += from[i];
}

// The same by intrinsics, over four registers.
void float32_sum_by_intrinsics(float* __restrict to, const float* __restrict from, Count count) {
  for (; count >= 16; count -= 16, to += 16, from += 16) {
    for (Count i = 0; i < 16; i += 4) {
      vst1q_f32(to + i, vaddq_f32(vld1q_f32(to + i), vld1q_f32(from + i)));
    }
  }
}

void float32_sum_to_both(float* __restrict to, float* __restrict also_to, const float* __restrict a,
                         const float* __restrict b, Count count) {
  for (Count i = 0; i < count; ++i) to[i] = also_to[i] = a[i] + b[i];
}

void float32_scale(float* values, float factor, Count count) {
  for (Count i = 0; i < count; ++i) values[i] *= factor;
}

void float16_sum(__fp16* __restrict to, const __fp16* __restrict from, Count count) {
  for (Count i = 0; i < count; ++i) {
    to[i] = static_cast<__fp16>(static_cast<float>(to[i]) + static_cast<float>(from[i]));
  }
}

void bfloat16_sum(unsigned short* __restrict to, const unsigned short* __restrict from,
                  Count count) {
  for (Count i = 0; i < count; ++i) to[i] = to_bfloat16(of_bfloat16(to[i]) + of_bfloat16(from[i]));
}

void float32_minimum(int* __restrict to, const int* __restrict from, Count count) {
  for (Count i = 0; i < count; ++i) {
    const int a = turned(to[i]);
    const int b = turned(from[i]);
    const int least = turned(b < a ? b : a);
    const int a_or_least = is_nan(to[i]) ? to[i] : least;
    to[i] = is_nan(from[i]) ? from[i] : a_or_least;
  }
}

void int8_decode_and_add(float* __restrict to, const float* __restrict from,
                         const signed char* __restrict coded, float step, float factor,
                         Count count) {
  for (Count i = 0; i < count; ++i) {
    to[i] = (from[i] + static_cast<float>(coded[i]) * step) * factor;
  }
}

void float16_decode_and_add(float* __restrict to, const float* __restrict from,
                            const __fp16* __restrict coded, float factor, Count count) {
  for (Count i = 0; i < count; ++i) to[i] = (from[i] + static_cast<float>(coded[i])) * factor;
}

void bfloat16_decode_and_add(float* __restrict to, const float* __restrict from,
                             const unsigned short* __restrict coded, float factor, Count count) {
  for (Count i = 0; i < count; ++i) to[i] = (from[i] + of_bfloat16(coded[i])) * factor;
}

int int8_encode_largest_magnitude(const float* values, Count count) {
  int most = 0;
  for (Count i = 0; i < count; ++i) {
    const int magnitude = bits_of<int>(values[i]) & 0x7fff'ffff;
    most = magnitude > most ? magnitude : most;
  }
  return most;
}

void int8_encode_rounded_steps(signed char* __restrict coded, const float* __restrict values,
                               float steps, Count count) {
  for (Count i = 0; i < count; ++i) {
    coded[i] = static_cast<signed char>(bits_of<int>(values[i] * steps + 0x1.8p23F));
  }
}

void float16_encode(__fp16* __restrict coded, const float* __restrict values, Count count) {
  for (Count i = 0; i < count; ++i) coded[i] = static_cast<__fp16>(values[i]);
}

// Any float may be encoded, so a NaN must stay one.
void bfloat16_encode(unsigned short* __restrict coded, const float* __restrict values,
                     Count count) {
  for (Count i = 0; i < count; ++i) {
    const auto bits = bits_of<unsigned>(values[i]);
    const unsigned rounded = bits + 0x7fff + (bits >> 16 & 1);
    const unsigned quiet = bits | 0x0040'0000;
    coded[i] =
        static_cast<unsigned short>((is_nan(bits_of<int>(values[i])) ? quiet : rounded) >> 16);
  }
}

void SGD(float* __restrict values, float* __restrict velocity, const float* __restrict gradient,
         Count count, float rate, float momentum, float decay, float scale) {
  for (Count i = 0; i < count; ++i) {
    const float g = gradient[i] * scale + decay * values[i];
    velocity[i] = momentum * velocity[i] + g;
    values[i] -= rate * velocity[i];
  }
}

struct AdamFactors {
  float beta1, beta2, decay, rate, correction, epsilon, scale;
};

void Adam(float* __restrict values, float* __restrict mean, float* __restrict mean_square,
          const float* __restrict gradient, Count count, const AdamFactors* factors) {
  const auto [beta1, beta2, decay, rate, correction, epsilon, scale] = *factors;
  for (Count i = 0; i < count; ++i) {
    const float g = gradient[i] * scale + decay * values[i];
    mean[i] = beta1 * mean[i] + (1 - beta1) * g;
    mean_square[i] = beta2 * mean_square[i] + (1 - beta2) * (g * g);
    values[i] -= rate * mean[i] / (__builtin_sqrtf(mean_square[i] * correction) + epsilon);
  }
}

}  // extern "C"
