# --- weir check: what else it looks at, and what it does not miss
add_test(NAME check.executed COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_executed_test.sh ${PROJECT_BINARY_DIR})
set_tests_properties(check.executed PROPERTIES TIMEOUT 240 LABELS check)
