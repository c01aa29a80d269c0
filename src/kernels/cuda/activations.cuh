#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "kernels/cuda/batch_norm_launch.h"

namespace proca::kernels::cuda {

/// What a thread loads at once: neighbouring channels of a pixel.
struct Unit {
  float value[kUnit];
};

__device__ __forceinline__ Unit load(const float* from) {
  const float4 low = reinterpret_cast<const float4*>(from)[0];
  const float4 high = reinterpret_cast<const float4*>(from)[1];
  return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

__device__ __forceinline__ Unit load(const __nv_bfloat16* from) {
  const uint4 bits = *reinterpret_cast<const uint4*>(from);
  const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
  Unit unit;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    // A bfloat16 is the upper half of a float.
    unit.value[2 * i] = __uint_as_float(words[i] << 16);
    unit.value[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
  }
  return unit;
}

__device__ __forceinline__ void store(float* to, const Unit& unit) {
  const float* v = unit.value;
  reinterpret_cast<float4*>(to)[0] = make_float4(v[0], v[1], v[2], v[3]);
  reinterpret_cast<float4*>(to)[1] = make_float4(v[4], v[5], v[6], v[7]);
}

__device__ __forceinline__ void store(__nv_bfloat16* to, const Unit& unit) {
  uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(unit.value[2 * i], unit.value[2 * i + 1]);
    words[i] = *reinterpret_cast<const uint32_t*>(&pair);
  }
  *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
}

}  // namespace proca::kernels::cuda
