# Finds every library the project uses. Required ones stop the configuration,
# optional ones switch a feature off with a message.

# LibTorch, in this order: CMAKE_PREFIX_PATH, the active Python's torch when it
# carries CMake files (so a machine with a CUDA PyTorch gets a GPU build by
# itself), the system's package.
if(NOT Torch_DIR)
  find_package(Torch QUIET PATHS ${CMAKE_PREFIX_PATH} NO_DEFAULT_PATH)
  set(proca_torch_origin "CMAKE_PREFIX_PATH")
  if(NOT Torch_FOUND)
    execute_process(COMMAND python3 -c "import torch; print(torch.utils.cmake_prefix_path)"
                    OUTPUT_VARIABLE proca_python_torch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(proca_python_torch AND EXISTS "${proca_python_torch}/Torch/TorchConfig.cmake")
      set(Torch_DIR "${proca_python_torch}/Torch" CACHE PATH "" FORCE)
      set(proca_torch_origin "the active Python's torch")
    else()
      unset(Torch_DIR CACHE)
      set(proca_torch_origin "the system")
    endif()
  endif()
  set(PROCA_TORCH_ORIGIN "${proca_torch_origin}" CACHE INTERNAL "")
endif()
find_package(Torch REQUIRED)
message(STATUS "proca: LibTorch ${Torch_VERSION} from ${PROCA_TORCH_ORIGIN} (${Torch_DIR})")
# Torch puts its ABI define into CMAKE_CXX_FLAGS of every consumer by hand; we pass it on.
separate_arguments(proca_torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")

find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)

# proca_optional(<variable> <feature> <debian package> <target>)
# Sets <variable> to whether <target> exists, and says what is off when it does not.
function(proca_optional variable feature package target)
  if(TARGET ${target})
    set(${variable} ON PARENT_SCOPE)
  else()
    set(${variable} OFF PARENT_SCOPE)
    message(STATUS "proca: ${feature} is off (install ${package} to have it)")
  endif()
endfunction()

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(WebP QUIET IMPORTED_TARGET libwebp)
  pkg_check_modules(Cairo QUIET IMPORTED_TARGET cairo)
endif()
proca_optional(PROCA_WITH_WEBP "WebP decoding" libwebp-dev PkgConfig::WebP)
proca_optional(PROCA_WITH_CAIRO "drawing of the demo data" libcairo2-dev PkgConfig::Cairo)

# ONNX's package file names protobuf::libprotobuf without looking for it.
find_package(Protobuf QUIET)
if(TARGET protobuf::libprotobuf)
  find_package(ONNX QUIET CONFIG)
endif()
proca_optional(PROCA_WITH_ONNX "ONNX export" "libonnx-dev and libprotobuf-dev" onnx)
