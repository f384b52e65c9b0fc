# weir_programs(DIRECTORY PREFIX SOURCE...): each source becomes one ordinary threaded program in DIRECTORY, built as a user
# would build it (-O2 -g -pthread; -fopenmp where its name ends in _omp). PREFIX keeps names of targets apart.
find_package(Threads REQUIRED)

function(weir_programs directory prefix)
  foreach(source IN LISTS ARGN)
    get_filename_component(name ${source} NAME_WE)
    set(target ${prefix}${name})
    add_executable(${target} ${source})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${directory})
    target_compile_options(${target} PRIVATE -O2 -g -pthread -Wall -Wextra)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
    if(name MATCHES "_omp$")
      target_compile_options(${target} PRIVATE -fopenmp)
      target_link_options(${target} PRIVATE -fopenmp)
    endif()
  endforeach()
endfunction()
