# Installs the built tree into a staging folder, builds the examples against it as a
# stranger would, and runs them. Arguments, all paths:
#   BUILD   the built tree          EXAMPLES   their folder
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

foreach(example IN ITEMS consumer stream)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${EXAMPLES}/${example}" -B "${work}/${example}" -G "${GENERATOR}"
            "-DCMAKE_PREFIX_PATH=${stage};${PREFIXES}" "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}"
            "-DCMAKE_CXX_COMPILER=${COMPILER}"
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${work}/${example}"
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()

execute_process(COMMAND "${work}/consumer/consumer" OUTPUT_VARIABLE output
                COMMAND_ERROR_IS_FATAL ANY)
set(expected "order: 1 2 0 4 3\nrefused: no/such/list.txt: cannot be opened: No such file or directory\n")
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "the example printed\n${output}instead of\n${expected}")
endif()

# The installed program must find its libraries where they are now.
execute_process(COMMAND "${stage}/bin/proca" --version OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# The stream, on drawn pictures where the program can draw.
if(DRAWS)
  execute_process(COMMAND "${stage}/bin/proca" data make-demo --out "${work}/shapes"
                          --source-per-class 4 --target-per-class 4
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${work}/stream/stream" "${work}/shapes/sketch" "${work}/state"
                          "${work}/shapes/photo/boat" "${work}/shapes/photo/key"
                  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output STREQUAL "step 1: 4 images\nstep 2: 4 images\n")
    message(FATAL_ERROR "examples/stream printed\n${output}")
  endif()
endif()
