#pragma once

#include <string_view>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

namespace proca::compute {

/// The type in which a GPU multiplies. Parameters, sums and losses are always float.
enum class Precision {
  kFp32,  ///< float
  kTf32,  ///< products of floats with a mantissa of 10 bits: what LibTorch does by default
  kBf16,  ///< training and prediction in bfloat16 (8 bits), twice as fast
};

/// Whether a CPU does 3 x 3 convolutions of stride 1 by Winograd's algorithm: with a quarter of
/// the multiplications, and rounded up to four times as much.
enum class Winograd { kOn, kOff };

/// Autocasts products of the calling thread to bfloat16 within a scope, if that is the
/// precision and the device is a GPU; turns autocast off otherwise.
class AutocastScope {
 public:
  AutocastScope(Precision precision, c10::Device device);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  bool was_active_;
};

/// `bf16` and so on.
std::string_view word_of(Precision precision);

/// The precision of products on that device: always fp32 on a CPU.
Precision effective_precision(Precision precision, c10::Device device);

/// The type of a network's weights and activations in inference.
c10::ScalarType inference_dtype(Precision precision, c10::Device device);

/// Allows TF32 on GPUs or not, for the whole process.
void set_precision(Precision precision);

/// For the whole process; on by default.
void set_winograd(Winograd winograd);
Winograd winograd();

}  // namespace proca::compute
