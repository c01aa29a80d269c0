# Install and export rules: the program with its manual page and completions; the library,
# its headers, and the files by which find_package(proca) gives another project the target
# proca::proca.

option(PROCA_INSTALL "Install proca with the surrounding project" ${PROJECT_IS_TOP_LEVEL})
if(NOT PROCA_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

set(proca_config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/proca")

# A LibTorch outside the system's folders is found again where it was at build time.
set_target_properties(proca proca_program PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
if(BUILD_SHARED_LIBS)
  file(RELATIVE_PATH proca_library_from_program
       "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(proca_program PROPERTIES
                        INSTALL_RPATH "$ORIGIN/${proca_library_from_program}")
endif()

install(TARGETS proca_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
        COMPONENT program)
install(TARGETS proca EXPORT procaTargets COMPONENT development)
install(DIRECTORY include/proca DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
        FILES_MATCHING PATTERN "*.h")
install(EXPORT procaTargets NAMESPACE proca:: DESTINATION "${proca_config_folder}"
        COMPONENT development)

configure_package_config_file(cmake/procaConfig.cmake.in "${PROJECT_BINARY_DIR}/procaConfig.cmake"
                              INSTALL_DESTINATION "${proca_config_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/procaConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/procaConfig.cmake"
              "${PROJECT_BINARY_DIR}/procaConfigVersion.cmake"
        DESTINATION "${proca_config_folder}" COMPONENT development)

install(FILES apps/proca/systemd/proca-watch@.service
        DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/proca/examples" COMPONENT program)

# What the program says of itself (apps/proca/CMakeLists.txt).
if(NOT PROCA_DESCRIPTIONS)
  return()
endif()
install(FILES "${PROCA_DESCRIPTIONS}/proca.1.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
        COMPONENT program)
install(FILES "${PROCA_DESCRIPTIONS}/proca"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT program)
# Debian's zsh looks at other folders for what packages bring.
install(CODE "
  set(folder site-functions)
  if(CMAKE_INSTALL_PREFIX MATCHES \"/usr$\")
    set(folder vendor-completions)
  endif()
  file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder}\"
       TYPE FILE FILES \"${PROCA_DESCRIPTIONS}/_proca\")" COMPONENT program)
