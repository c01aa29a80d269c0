// Three functions of CUDA's driver, each a line in the file $CALLS.

#include <cstdio>
#include <cstdlib>

namespace {

int write_down(const char* call) {
  const char* path = std::getenv("CALLS");
  std::FILE* file = path != nullptr ? std::fopen(path, "a") : nullptr;
  if (file == nullptr) return 999;
  std::fprintf(file, "%s\n", call);
  return std::fclose(file);
}

}  // namespace

extern "C" {

int cuInit(unsigned int /*flags*/) { return write_down("cuInit"); }

int cuDeviceGet(int* device, int /*ordinal*/) {
  *device = 0;
  return write_down("cuDeviceGet");
}

int cuDevicePrimaryCtxRetain(void** context, int /*device*/) {
  *context = nullptr;
  return write_down("cuDevicePrimaryCtxRetain");
}
}
