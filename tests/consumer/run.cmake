# Installs the built tree into a staging folder, builds examples/consumer against
# it as a stranger would, and runs it. Arguments, all paths:
#   BUILD   the built tree          SOURCE   the example
#   PREFIXES   CMAKE_PREFIX_PATH of the build, separated by "|"
#   GENERATOR, BUILD_TYPE, COMPILER   as in the build

set(stage "${BUILD}/stage")
set(work "${BUILD}/stage-consumer")
file(REMOVE_RECURSE "${stage}" "${work}")
string(REPLACE "|" ";" PREFIXES "${PREFIXES}")


set(ENV{DESTDIR} "")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${stage}"
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# Paths of this build in the installed files would tie them to this machine.
file(GLOB_RECURSE exported "${stage}/*.cmake")
foreach(file IN LISTS exported)
  file(READ "${file}" text)
  foreach(private IN ITEMS "${BUILD}/" "${stage}")
    string(FIND "${text}" "${private}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} names ${private}")
    endif()
  endforeach()
endforeach()

execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${work}" -G "${GENERATOR}"
          "-DCMAKE_PREFIX_PATH=${stage};${PREFIXES}" "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}"
          "-DCMAKE_CXX_COMPILER=${COMPILER}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${work}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${work}/consumer" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)

set(expected "order: 1 2 0 4 3\nrefused: no/such/list.txt: cannot be opened: No such file or directory\n")
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "the example printed\n${output}instead of\n${expected}")
endif()

# The installed program must find its libraries where they are now.
execute_process(COMMAND "${stage}/bin/proca" --version OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
