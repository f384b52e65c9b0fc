# The patterns of public suites: some in ./check, all in ./check --all.
foreach(every 8 1)
  set(name check.races.twins)
  set(labels check)
  if(every EQUAL 1)
    set(name check.races.twins.all)
    set(labels "check;rest")
  endif()
  add_test(NAME ${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/races/run --tool weir --weir ${PROJECT_BINARY_DIR}/bin/weir
    --build ${PROJECT_BINARY_DIR}/tests/races-checked --runs 2 --enough --manifest "twins|kinds" --every ${every} --expect-precision 100 --expect-recall 85)
  set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS "${labels}" RUN_SERIAL ON)
endforeach()
# The programs of check.races, each under some schedules of weir hunt --races.
add_test(NAME check.hunted COMMAND ${CMAKE_CURRENT_LIST_DIR}/run --tool hunt --weir ${PROJECT_BINARY_DIR}/bin/weir
  --build ${PROJECT_BINARY_DIR}/tests/races-checked --expect-precision 100 --expect-recall 80 --manifest "^MANIFEST(.suites)?$")
set_tests_properties(check.hunted PROPERTIES TIMEOUT 1800 LABELS "check;hunt;rest" RUN_SERIAL ON)
