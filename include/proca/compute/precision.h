#pragma once

#include <string_view>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

namespace proca::compute {

/// In which numbers a GPU multiplies. Parameters, sums and losses are always float.
enum class Precision {
  kFp32,  ///< float
  kTf32,  ///< products of floats with a mantissa of 10 bits: what LibTorch does by default
  kBf16,  ///< training and prediction in bfloat16 (8 bits), twice as fast
};

/// While it lives, products of the thread are done in bfloat16, if that is the precision
/// and the device is a GPU; with another precision they are not, whatever was before.
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

/// The precision that products really have there: a CPU always has fp32.
Precision effective_precision(Precision precision, c10::Device device);

/// What a network's convolutions are computed in when it predicts.
c10::ScalarType inference_dtype(Precision precision, c10::Device device);

/// Sets what products of floats may do on GPUs, for the whole process.
void set_precision(Precision precision);

}  // namespace proca::compute
