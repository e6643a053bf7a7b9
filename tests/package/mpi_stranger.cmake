# Adds tests of the stranger of the component mpi, who has an MPI and an installed rota.

# mpi_stranger(<test> <prefix> <mpicxx> RUN <command>... [OPTIONS <option>...]) builds the project
# with the rota in <prefix>, and runs its program by the command.
function(mpi_stranger test prefix mpicxx)
  cmake_parse_arguments(PARSE_ARGV 3 stranger "" "" "RUN;OPTIONS")
  set(folder ${PROJECT_SOURCE_DIR}/tests/package)
  set(build ${CMAKE_CURRENT_BINARY_DIR}/${test})
  add_test(NAME ${test} COMMAND ${CMAKE_CTEST_COMMAND}
    --build-and-test ${folder}/mpi_stranger ${build}
    --build-generator ${CMAKE_GENERATOR} --build-target averager
    --build-options -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_PREFIX_PATH=${prefix}
      -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
      -DMPI_CXX_COMPILER=${mpicxx} ${stranger_OPTIONS}
    --test-command ${folder}/one_mpi.sh ${build}/averager ${stranger_RUN})
endfunction()
