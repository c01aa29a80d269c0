# Debian packages by CPack: "proca", the program, and "libproca-dev", the library with its
# headers and CMake files. "make package" makes them; tools/check_package.sh tries them out.

if(NOT PROCA_INSTALL)
  return()
endif()
# A package can only depend on other packages.
if(NOT PROCA_TORCH_ORIGIN STREQUAL "the system")
  message(STATUS "proca: Debian packages are off (LibTorch is not the system's)")
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME proca)
# Who publishes packages puts their own address here.
set(PROCA_PACKAGE_CONTACT "the proca authors <proca@localhost>" CACHE STRING
    "Maintainer named in the Debian packages")
set(CPACK_PACKAGE_CONTACT "${PROCA_PACKAGE_CONTACT}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME proca)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
# Without it LibTorch computes with a BLAS fifty times slower.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "libopenblas0-pthread | libopenblas0-openmp")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "A classifier is trained once on labelled images and then adapted, step by
step, to unlabelled images that look different and show only some of the
classes at a time, while the images of earlier steps are gone.

This package has the program.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libproca-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
# What procaConfig.cmake looks for.
set(proca_development libtorch-dev libfmt-dev libspdlog-dev libjpeg-dev libpng-dev zlib1g-dev)
if(PROCA_WITH_WEBP)
  list(APPEND proca_development pkg-config libwebp-dev)
endif()
if(PROCA_WITH_TIFF)
  list(APPEND proca_development pkg-config libtiff-dev)
endif()
if(PROCA_WITH_GIF)
  list(APPEND proca_development pkg-config libgif-dev)
endif()
if(PROCA_WITH_CAIRO)
  list(APPEND proca_development pkg-config libcairo2-dev)
endif()
if(PROCA_WITH_ONNX)
  list(APPEND proca_development libonnx-dev libprotobuf-dev)
endif()
list(REMOVE_DUPLICATES proca_development)
list(JOIN proca_development ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "A C++ library on LibTorch: image loading, networks, losses, methods,
training and evaluation.

This package has the static library, its headers and its CMake files.")

# Debian wants licence and changelog beside every package, the latter in its own format. The
# date is that of the configuration, or of SOURCE_DATE_EPOCH.
string(TIMESTAMP proca_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(proca_changelog "${PROJECT_BINARY_DIR}/packaging/changelog")
file(WRITE "${proca_changelog}" "proca (${PROJECT_VERSION}) unstable; urgency=medium

  * As CHANGELOG.md of the sources says.

 -- ${PROCA_PACKAGE_CONTACT}  ${proca_date}
")
execute_process(COMMAND gzip -9 -n -k -f "${proca_changelog}" COMMAND_ERROR_IS_FATAL ANY)
foreach(package IN ITEMS program:proca development:libproca-dev)
  string(REPLACE ":" ";" package "${package}")
  list(GET package 0 component)
  list(GET package 1 name)
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}" RENAME copyright
          COMPONENT ${component})
  install(FILES "${proca_changelog}.gz" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}"
          COMPONENT ${component})
endforeach()

include(CPack)
