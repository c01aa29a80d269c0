# proca_embed_paper(<target> <folder>)
#
# Compiles the text of every .csv file of the folder into the target. Adding the
# numbers of an experiment is adding a file of its name.
function(proca_embed_paper target folder)
  file(GLOB files CONFIGURE_DEPENDS "${folder}/*.csv")
  set(entries "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    get_filename_component(name "${file}" NAME_WLE)
    file(READ "${file}" text)
    string(APPEND entries "    {\"${name}\", R\"paper(${text})paper\"},\n")
  endforeach()
  set(table "${CMAKE_CURRENT_BINARY_DIR}/embedded_paper.cpp")
  configure_file("${CMAKE_CURRENT_SOURCE_DIR}/embedded_paper.cpp.in" "${table}" @ONLY)
  target_sources(${target} PRIVATE "${table}")
  set_source_files_properties("${table}" TARGET_DIRECTORY ${target} PROPERTIES
    INCLUDE_DIRECTORIES "${CMAKE_CURRENT_SOURCE_DIR}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()
