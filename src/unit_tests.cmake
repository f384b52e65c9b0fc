# Unit tests beside the code, and what fuzz/ has. Included by src/CMakeLists.txt if the component
# WEIR_TESTS is built.

# --- of what is injected
file(GLOB_RECURSE unit_tests CONFIGURE_DEPENDS *_test.cc)
list(FILTER unit_tests EXCLUDE REGEX "/src/(cli|recording|compiler|region|dsm|tape)/")
weir_unit_tests(unit_tests ${unit_tests} APART "/(counted|guard|process_calls|random_calls|sweep)_test\\.cc$")
target_link_libraries(unit_tests PRIVATE weir_testable weir_warnings weir_sanitizers zydis)
target_include_directories(unit_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(unit_tests PRIVATE _GNU_SOURCE)

# --- of the commands
file(GLOB_RECURSE cli_tests CONFIGURE_DEPENDS
  cli/*_test.cc recording/*_test.cc compiler/*_test.cc)
set(cc_testable ${cc_sources})
list(FILTER cc_testable EXCLUDE REGEX "/main\\.cc$")
# A test reads what its own program says of its variables and types.
set_source_files_properties(cli/races/check_fixture_test.cc cli/races/check_test.cc PROPERTIES COMPILE_OPTIONS -g2)
weir_unit_tests(cli_unit_tests ${cli_tests} APART "/check(_fixture)?_test\\.cc$")
target_sources(cli_unit_tests PRIVATE ${cc_testable})
target_link_libraries(cli_unit_tests PRIVATE weir_cli_tested weir_cli_options_tested weir_sanitizers)

if(WEIR_REGION)
  # --- tests of libweir-region, as a program uses it; pure parts are compiled in
  file(GLOB region_tests CONFIGURE_DEPENDS region/*_test.cc)
  weir_unit_tests(region_unit_tests ${region_tests} APART "/region_ptr_test\\.cc$")
  target_sources(region_unit_tests PRIVATE region/diff.cc region/diff_vector_x86_64.cc code/decode/gather.cc)
  target_include_directories(region_unit_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(region_unit_tests PRIVATE _GNU_SOURCE)
  target_link_libraries(region_unit_tests PRIVATE weir_region weir_warnings zydis)
endif()

if(WEIR_DSM)
  # What its tests link: the same, under sanitizers where those are asked for.
  if(WEIR_SANITIZE)
    add_library(weir_dsm_tested STATIC ${dsm_sources})
    target_include_directories(weir_dsm_tested PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_compile_definitions(weir_dsm_tested PUBLIC _GNU_SOURCE PRIVATE WEIR_VERSION="${PROJECT_VERSION}")
    target_link_libraries(weir_dsm_tested PRIVATE weir_warnings PUBLIC weir_sanitizers ${WEIR_UCP} ${WEIR_UCS} weir_region dl)
  else()
    add_library(weir_dsm_tested ALIAS weir_dsm_objects)
  endif()
  file(GLOB_RECURSE dsm_tests CONFIGURE_DEPENDS dsm/*_test.cc tape/*_test.cc)
  list(FILTER dsm_tests EXCLUDE REGEX "/dsm/(predict|commands)/")
  if(dsm_tests)
    weir_unit_tests(dsm_unit_tests ${dsm_tests} APART "/(checker|exact|own_threads|tape)_test\\.cc$")
    target_link_libraries(dsm_unit_tests PRIVATE weir_dsm_tested weir_warnings)
  endif()
endif()

# --- readers of recordings, against whatever lies on disk (fuzz/README.md)
foreach(what recording damage)
  add_executable(fuzz_${what} ${PROJECT_SOURCE_DIR}/fuzz/${what}.cc)
  target_link_libraries(fuzz_${what} PRIVATE weir_cli_tested weir_cli_options_tested weir_sanitizers)
endforeach()
if(WEIR_REGION)
  add_executable(fuzz_region ${PROJECT_SOURCE_DIR}/fuzz/region.cc)
  target_include_directories(fuzz_region PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(fuzz_region PRIVATE _GNU_SOURCE)
  target_link_libraries(fuzz_region PRIVATE weir_region weir_testable zydis weir_warnings)
endif()
if(WEIR_DSM)
  add_executable(fuzz_dsm ${PROJECT_SOURCE_DIR}/fuzz/dsm.cc)
  target_link_libraries(fuzz_dsm PRIVATE weir_dsm_tested weir_warnings)
endif()
