// `.pth` files as torch.save wrote them before version 1.6, and the pickles in them.

#include "models/weights/pth/pth_reader.h"
#include "tensor_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proca;
  fuzz::refuse_or([&] {
    fuzz::check_tensors(models::read_pth_stream({data, size}, "input"), size);
  });
  return 0;
}
