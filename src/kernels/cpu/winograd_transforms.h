#pragma once

// The matrices of Winograd's convolution (see winograd_loops.h), applied to a line of six, four
// or three vectors. Each reads vectors that lie `step` apart and writes them `to` apart.
//
// Pixels and kernels are coefficients of polynomials, which are multiplied by their values at 0,
// two pairs of points, and infinity. The usual points 1 and 2 would save multiplications, and
// lose four times as much to rounding.

#include <numbers>

namespace proca::kernels {

struct WinogradPoints {
  static constexpr float kNear = std::numbers::sqrt2_v<float> / 2;
  static constexpr float kFar = std::numbers::sqrt2_v<float>;
  static constexpr float kNear2 = 0.5F, kFar2 = 2;
  // What the values of a kernel are multiplied by.
  static constexpr float kOfNear = 1 / (2 * kNear2 * (kNear2 - kFar2));
  static constexpr float kOfFar = 1 / (2 * kFar2 * (kFar2 - kNear2));
};

// B'
struct InputMatrix {
  template <typename V>
  [[gnu::always_inline]] static void apply(const V* d, int step, V* o, int to) {
    using P = WinogradPoints;
    const V near = d[4 * step] - P::kFar2 * d[2 * step];
    const V near_odd = P::kNear * (d[3 * step] - P::kFar2 * d[step]);
    const V far = d[4 * step] - P::kNear2 * d[2 * step];
    const V far_odd = P::kFar * (d[3 * step] - P::kNear2 * d[step]);
    constexpr float kSum = P::kNear2 + P::kFar2;  // Their product is one.
    o[0] = d[0] - kSum * d[2 * step] + d[4 * step];
    o[to] = near + near_odd;
    o[2 * to] = near - near_odd;
    o[3 * to] = far + far_odd;
    o[4 * to] = far - far_odd;
    o[5 * to] = d[step] - kSum * d[3 * step] + d[5 * step];
  }
};

// A'
struct OutputMatrix {
  template <typename V>
  [[gnu::always_inline]] static void apply(const V* m, int step, V* y, int to) {
    using P = WinogradPoints;
    const V near = m[step] + m[2 * step], near_odd = P::kNear * (m[step] - m[2 * step]);
    const V far = m[3 * step] + m[4 * step], far_odd = P::kFar * (m[3 * step] - m[4 * step]);
    y[0] = m[0] + near + far;
    y[to] = near_odd + far_odd;
    y[2 * to] = P::kNear2 * near + P::kFar2 * far;
    y[3 * to] = P::kNear2 * near_odd + P::kFar2 * far_odd + m[5 * step];
  }
};

// A
struct GradientMatrix {
  template <typename V>
  [[gnu::always_inline]] static void apply(const V* y, int step, V* z, int to) {
    using P = WinogradPoints;
    const V near = y[0] + P::kNear2 * y[2 * step];
    const V near_odd = P::kNear * (y[step] + P::kNear2 * y[3 * step]);
    const V far = y[0] + P::kFar2 * y[2 * step];
    const V far_odd = P::kFar * (y[step] + P::kFar2 * y[3 * step]);
    z[0] = y[0];
    z[to] = near + near_odd;
    z[2 * to] = near - near_odd;
    z[3 * to] = far + far_odd;
    z[4 * to] = far - far_odd;
    z[5 * to] = y[3 * step];
  }
};

// G
struct KernelMatrix {
  template <typename V>
  [[gnu::always_inline]] static void apply(const V* g, int step, V* u, int to) {
    using P = WinogradPoints;
    const V near = P::kOfNear * (g[0] + P::kNear2 * g[2 * step]);
    const V near_odd = P::kOfNear * P::kNear * g[step];
    const V far = P::kOfFar * (g[0] + P::kFar2 * g[2 * step]);
    const V far_odd = P::kOfFar * P::kFar * g[step];
    u[0] = g[0];
    u[to] = near + near_odd;
    u[2 * to] = near - near_odd;
    u[3 * to] = far + far_odd;
    u[4 * to] = far - far_odd;
    u[5 * to] = g[2 * step];
  }
};

// G'
struct SumsMatrix {
  template <typename V>
  [[gnu::always_inline]] static void apply(const V* u, int step, V* g, int to) {
    using P = WinogradPoints;
    const V near = P::kOfNear * (u[step] + u[2 * step]);
    const V near_odd = P::kOfNear * P::kNear * (u[step] - u[2 * step]);
    const V far = P::kOfFar * (u[3 * step] + u[4 * step]);
    const V far_odd = P::kOfFar * P::kFar * (u[3 * step] - u[4 * step]);
    g[0] = u[0] + near + far;
    g[to] = near_odd + far_odd;
    g[2 * to] = P::kNear2 * near + P::kFar2 * far + u[5 * step];
  }
};

}  // namespace proca::kernels
