#include "kernels/in_parallel.h"

#include <ATen/TensorIterator.h>
#include <torch/types.h>

namespace proca::kernels {

// By an iterator over `count` bytes: `at::parallel_for` would have to be compiled with OpenMP, and
// a PyTorch has a copy of OpenMP with threads of its own.
void in_parallel(int64_t count, const std::function<void(int64_t)>& work) {
  if (count == 1) return work(0);
  const at::Tensor bytes = at::empty({count}, at::kByte);
  const auto* first = static_cast<const char*>(bytes.data_ptr());
  at::TensorIterator::borrowing_nullary_op(bytes).for_each(
      [&](char** data, const int64_t* strides, int64_t size) {
        for (int64_t i = 0; i < size; ++i) work(data[0] - first + i * strides[0]);
      },
      /*grain_size=*/1);
}

}  // namespace proca::kernels
