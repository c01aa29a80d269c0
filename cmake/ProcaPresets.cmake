# proca_embed_presets(<target> <folder>)
#
# Compiles the text of every .toml file of the folder into the target, so that the
# program needs no files beside it. Adding a preset is adding a file: new and
# changed ones are noticed at the next build.
function(proca_embed_presets target folder)
  file(GLOB files CONFIGURE_DEPENDS "${folder}/*.toml")
  set(entries "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    get_filename_component(name "${file}" NAME_WLE)
    file(READ "${file}" text)
    string(APPEND entries "    {\"${name}\", R\"preset(${text})preset\"},\n")
  endforeach()
  set(table "${CMAKE_CURRENT_BINARY_DIR}/embedded_presets.cpp")
  configure_file("${CMAKE_CURRENT_SOURCE_DIR}/embedded_presets.cpp.in" "${table}" @ONLY)
  target_sources(${target} PRIVATE "${table}")
  set_source_files_properties("${table}" TARGET_DIRECTORY ${target} PROPERTIES
    INCLUDE_DIRECTORIES "${CMAKE_CURRENT_SOURCE_DIR}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()
