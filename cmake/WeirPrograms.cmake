# weir_programs(DIRECTORY PREFIX SOURCE...): each source becomes one ordinary threaded program in
# DIRECTORY, built as a user would build it (-O2 -g -pthread; -fopenmp where its name ends in
# _omp). PREFIX keeps names of targets apart.
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

# weir_compile_together(GROUP HEADERS SOURCE...): those sources that include what the regular
# expression HEADERS matches become one unit of compilation in targets of weir_command_objects.
function(weir_compile_together group headers)
  foreach(source IN LISTS ARGN)
    get_filename_component(source ${source} ABSOLUTE)
    file(STRINGS ${source} includes REGEX "^#include (${headers})")
    if(includes)
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()

# weir_compile_folders_together(SOURCE...): those of one folder of src become one unit of compilation
# in targets with UNITY_BUILD; folders below the second level count as that (docs/decisions/085).
function(weir_compile_folders_together)
  foreach(source IN LISTS ARGN)
    get_filename_component(source ${source} ABSOLUTE)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/src ${source})
    get_filename_component(folder ${folder} DIRECTORY)
    string(REGEX REPLACE "^([a-z_]+/[a-z_]+)/.*" "\\1" folder ${folder})
    string(REPLACE "/" "_" folder ${folder})
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${folder})
  endforeach()
endfunction()

# weir_unit_tests(TARGET SOURCE...): the program of these tests. Half of the time went into what each
# file takes from GoogleTest, and into debug information. APART: has names that others have.
function(weir_unit_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 tests "" "APART" "")
  set(together ${tests_UNPARSED_ARGUMENTS})
  if(tests_APART)
    list(FILTER together EXCLUDE REGEX "${tests_APART}")
  endif()
  weir_compile_folders_together(${together})
  add_executable(${target} ${tests_UNPARSED_ARGUMENTS})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE ${test_options})
  target_link_libraries(${target} PRIVATE GTest::gtest GTest::gtest_main)
endfunction()

# weir_command_objects(NAME SOURCES ... DEFINITIONS ... LIBRARIES ... OPTIONS ...)
# A command's sources, compiled once, for it and for its tests (NAME_tested); where these are under
# sanitizers, once more. Their debug information has lines and functions only: with variables they
# take a quarter longer.
function(weir_command_objects name)
  cmake_parse_arguments(PARSE_ARGV 1 command "" "" "SOURCES;DEFINITIONS;LIBRARIES;OPTIONS")
  set(libraries ${name})
  if(WEIR_SANITIZE)
    list(APPEND libraries ${name}_tested)
  endif()
  foreach(library IN LISTS libraries)
    add_library(${library} OBJECT ${command_SOURCES})
    target_include_directories(${library} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(${library} PUBLIC _GNU_SOURCE ${command_DEFINITIONS})
    target_compile_options(${library} PRIVATE $<$<CONFIG:RelWithDebInfo>:-g1;${command_OPTIONS}>)
    set_target_properties(${library} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    target_link_libraries(${library} PUBLIC weir_warnings weir_fmt ${command_LIBRARIES})
  endforeach()
  if(WEIR_SANITIZE)
    target_link_libraries(${name}_tested PUBLIC weir_sanitizers)
  else()
    add_library(${name}_tested ALIAS ${name})
  endif()
endfunction()
