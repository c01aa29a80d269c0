# proca_embed_files(<target> <table> <folder> <extension>)
#
# Compiles the text of every file of the folder and its sub-folders with that extension into the
# target, so that the program needs no files beside it. They come, by path, from the function
#
#   std::span<const EmbeddedFile> proca::embedded_<table>();
#
# which whoever calls it declares (core/files/embedded_file.h has the struct). Adding
# a file is enough: new and changed ones are noticed at the next build.
function(proca_embed_files target table folder extension)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS "${folder}/*.${extension}")
  proca_embed(${target} ${table} ${files})
endfunction()

# proca_embed(<target> <table> [<file>...])
#
# The same for the files named, in that order; there may be none.
function(proca_embed target table)
  set(entries "")
  list(LENGTH ARGN count)
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    get_filename_component(name "${file}" NAME_WLE)
    file(READ "${file}" text)
    string(APPEND entries "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
  endforeach()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/embedded_${table}.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/embedded_files.cpp.in" "${source}" @ONLY)
  target_sources(${target} PRIVATE "${source}")
  set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES
                              SKIP_PRECOMPILE_HEADERS ON)
endfunction()
