# proca_add_methods(<target> <name>...)
#
# Generates the table that the registry reads from the list of methods, so that
# a method is named in exactly one place. Their sources are compiled with the
# other files of the module.
function(proca_add_methods target)
  set(declarations "")
  set(entries "")
  foreach(name IN LISTS ARGN)
    string(APPEND declarations "MethodSpec ${name}_spec();\n")
    string(APPEND entries "      ${name}_spec(),\n")
  endforeach()
  configure_file("${CMAKE_CURRENT_SOURCE_DIR}/method_table.cpp.in"
                 "${CMAKE_CURRENT_BINARY_DIR}/method_table.cpp" @ONLY)
  target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/method_table.cpp")
endfunction()
