# Finds every library the project uses. Required ones stop the configuration,
# optional ones switch a feature off with a message.
#
# Everything found here is also written into PROCA_FIND_DEPENDENCIES, the lines
# by which the installed procaConfig.cmake finds it again: a static library is
# linked by its user, with all that it needs.

set(PROCA_FIND_DEPENDENCIES "")

# --- LibTorch ------------------------------------------------------------------
# In this order: CMAKE_PREFIX_PATH (-D or environment), the active Python's torch
# when it carries CMake files (so that a machine with a CUDA PyTorch gets a GPU
# build by itself), the system's package. -DTorch_DIR= overrides all three.
if(Torch_DIR)
  if(NOT PROCA_TORCH_ORIGIN)
    set(PROCA_TORCH_ORIGIN "Torch_DIR" CACHE INTERNAL "")
  endif()
else()
  # Only the file is looked for here; loading it twice is more than it can take.
  set(proca_prefixes ${CMAKE_PREFIX_PATH})
  if(DEFINED ENV{CMAKE_PREFIX_PATH})
    string(REPLACE ":" ";" proca_environment_prefixes "$ENV{CMAKE_PREFIX_PATH}")
    list(APPEND proca_prefixes ${proca_environment_prefixes})
  endif()
  find_path(proca_torch_folder Torch/TorchConfig.cmake PATHS ${proca_prefixes} NO_DEFAULT_PATH NO_CACHE
            PATH_SUFFIXES share/cmake lib/cmake "lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake")
  set(PROCA_TORCH_ORIGIN "CMAKE_PREFIX_PATH" CACHE INTERNAL "")
  if(NOT proca_torch_folder)
    execute_process(COMMAND python3 "${PROJECT_SOURCE_DIR}/tools/python_torch.py"
                    OUTPUT_VARIABLE proca_torch_folder OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(PROCA_TORCH_ORIGIN "the active Python" CACHE INTERNAL "")
  endif()
  if(proca_torch_folder)
    set(Torch_DIR "${proca_torch_folder}/Torch" CACHE PATH "Folder of TorchConfig.cmake" FORCE)
  else()
    set(PROCA_TORCH_ORIGIN "the system" CACHE INTERNAL "")
  endif()
endif()
# Its files report on LibTorch's own build; a warning about a profiler library that
# nobody links is usual. Errors are still shown.
set(CMAKE_MESSAGE_LOG_LEVEL ERROR)
find_package(Torch REQUIRED)
unset(CMAKE_MESSAGE_LOG_LEVEL)

if(TARGET torch_cuda)
  set(PROCA_TORCH_DEVICES "CPU and CUDA")
else()
  set(PROCA_TORCH_DEVICES "CPU only")
endif()
message(STATUS "proca: LibTorch ${Torch_VERSION} (${PROCA_TORCH_DEVICES}) "
               "from ${PROCA_TORCH_ORIGIN}: ${Torch_DIR}")

option(PROCA_REQUIRE_CUDA "Stop when the LibTorch found has no CUDA" OFF)
if(PROCA_REQUIRE_CUDA AND NOT TARGET torch_cuda)
  message(FATAL_ERROR "PROCA_REQUIRE_CUDA is on, but the LibTorch in ${Torch_DIR} was built without "
                      "CUDA: activate a Python with a CUDA torch or set CMAKE_PREFIX_PATH.")
endif()

# Kernels of our own, in src/<module>/cuda/, want a CUDA compiler besides.
option(PROCA_CUDA_KERNELS "Compile the project's own CUDA kernels if that is possible" ON)
set(PROCA_WITH_CUDA_KERNELS OFF)
if(PROCA_CUDA_KERNELS AND TARGET torch_cuda)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      if(CMAKE_CROSSCOMPILING)
        set(CMAKE_CUDA_ARCHITECTURES 90)
      else()
        set(CMAKE_CUDA_ARCHITECTURES native)
      endif()
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    enable_language(CUDA)
    set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)  # as LibTorch: two of them do not know each other
    set(PROCA_WITH_CUDA_KERNELS ON)
  else()
    message(STATUS "proca: CUDA kernels are off (there is no CUDA compiler); LibTorch's own are used")
  endif()
endif()

# TORCH_LIBRARIES holds absolute paths of this machine; behind a target of its own
# they stay out of the exported files. procaConfig.cmake makes the same target.
add_library(proca_torch INTERFACE)
# The C++ library in front: PyTorch's own builds export parts of another one, and a program
# that takes those (std::filesystem among them) for the compiler's crashes.
target_link_libraries(proca_torch INTERFACE stdc++ ${TORCH_LIBRARIES})

# --- Required ------------------------------------------------------------------

# proca_find(<package> [...]): find_package, and its line for procaConfig.cmake.
macro(proca_find)
  find_package(${ARGV} REQUIRED)
  string(REPLACE ";" " " proca_find_arguments "${ARGV}")
  string(APPEND PROCA_FIND_DEPENDENCIES "find_dependency(${proca_find_arguments})\n")
endmacro()

find_package(Threads REQUIRED)  # public: procaConfig.cmake always finds it
proca_find(fmt)
proca_find(spdlog)
proca_find(JPEG)
proca_find(PNG)
proca_find(ZLIB)
# Headers only, seen by no public header: who links the library does not need them.
find_package(nlohmann_json REQUIRED)
find_path(PROCA_TOML_INCLUDE_DIR toml++/toml.h DOC "Folder of toml++/toml.h")
if(NOT PROCA_TOML_INCLUDE_DIR)
  message(FATAL_ERROR "proca needs the header toml++/toml.h: install libtomlplusplus-dev (Debian), or "
                      "unpack https://github.com/marzer/tomlplusplus and set PROCA_TOML_INCLUDE_DIR")
endif()
add_library(proca_toml INTERFACE)
target_include_directories(proca_toml SYSTEM INTERFACE "${PROCA_TOML_INCLUDE_DIR}")

# --- Optional ------------------------------------------------------------------

# proca_optional(<variable> <feature> <debian package> <target> <lines of procaConfig.cmake>)
# Sets <variable> to whether <target> exists, and says what is off when it does not.
macro(proca_optional variable feature package target lines)
  if(TARGET ${target})
    set(${variable} ON)
    string(APPEND PROCA_FIND_DEPENDENCIES "${lines}\n")
  else()
    set(${variable} OFF)
    message(STATUS "proca: ${feature} is off (install ${package} to have it)")
  endif()
endmacro()

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(WebP QUIET IMPORTED_TARGET libwebp)
  pkg_check_modules(Tiff QUIET IMPORTED_TARGET libtiff-4>=4.5)
  pkg_check_modules(Gif QUIET IMPORTED_TARGET libgif)
  pkg_check_modules(Cairo QUIET IMPORTED_TARGET cairo)
endif()
proca_optional(PROCA_WITH_WEBP "WebP decoding" libwebp-dev PkgConfig::WebP
               "find_dependency(PkgConfig)\npkg_check_modules(WebP REQUIRED QUIET IMPORTED_TARGET libwebp)")
proca_optional(PROCA_WITH_TIFF "TIFF decoding" "libtiff-dev, 4.5 or later," PkgConfig::Tiff
               "find_dependency(PkgConfig)\npkg_check_modules(Tiff REQUIRED QUIET IMPORTED_TARGET libtiff-4)")
proca_optional(PROCA_WITH_GIF "GIF decoding" libgif-dev PkgConfig::Gif
               "find_dependency(PkgConfig)\npkg_check_modules(Gif REQUIRED QUIET IMPORTED_TARGET libgif)")
proca_optional(PROCA_WITH_CAIRO "drawing of the demo data" libcairo2-dev PkgConfig::Cairo
               "find_dependency(PkgConfig)\npkg_check_modules(Cairo REQUIRED QUIET IMPORTED_TARGET cairo)")

# ONNX's own files use protobuf's target without finding it, and newer versions call
# their targets ONNX::.
find_package(Protobuf QUIET)
if(TARGET protobuf::libprotobuf)
  find_package(ONNX QUIET CONFIG)
endif()
if(TARGET ONNX::onnx)
  set(PROCA_ONNX_TARGET ONNX::onnx)
  set(PROCA_ONNX_LIBRARIES ONNX::onnx ONNX::onnx_proto protobuf::libprotobuf)
else()
  set(PROCA_ONNX_TARGET onnx)
  set(PROCA_ONNX_LIBRARIES onnx onnx_proto protobuf::libprotobuf)
endif()
proca_optional(PROCA_WITH_ONNX "ONNX export" "libonnx-dev and libprotobuf-dev" ${PROCA_ONNX_TARGET}
               "find_dependency(Protobuf)\nfind_dependency(ONNX CONFIG)")

# Not compiled but put into the report's page as it is.
find_file(PROCA_CHART_LIBRARY chart.min.js PATHS /usr/share/javascript/chart.js
          DOC "Chart.js, minified, for the charts of reports")
if(NOT PROCA_CHART_LIBRARY)
  set(PROCA_CHART_LIBRARY "")
  message(STATUS "proca: charts in reports are off (install libjs-chart.js to have them)")
endif()
