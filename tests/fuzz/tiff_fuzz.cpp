// TIFF pictures.

#include "image_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  proca::fuzz::decode_any({data, size});
  return 0;
}
