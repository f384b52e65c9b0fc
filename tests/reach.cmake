# --- weir check: what else it looks at, and what it does not miss
add_test(NAME check.executed COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_executed_test.sh ${PROJECT_BINARY_DIR})
set_tests_properties(check.executed PROPERTIES TIMEOUT 240 LABELS check)
# Locks, threads, descriptors and handlers: programs that may go wrong, and programs that cannot.
add_test(NAME check.hazards COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hazards_test.sh ${PROJECT_BINARY_DIR})
set_tests_properties(check.hazards PROPERTIES TIMEOUT 240 LABELS check)
add_test(NAME check.hazards.thread_unsafe COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/thread_unsafe_test.sh ${PROJECT_BINARY_DIR})
set_tests_properties(check.hazards.thread_unsafe PROPERTIES TIMEOUT 240 LABELS check)
add_test(NAME check.hazards.deadlock COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/deadlocks_test.sh ${PROJECT_BINARY_DIR})
set_tests_properties(check.hazards.deadlock PROPERTIES TIMEOUT 240 LABELS "check;rest")
add_test(NAME check.hazards.descriptors COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/descriptors_test.sh ${PROJECT_BINARY_DIR})
set_tests_properties(check.hazards.descriptors PROPERTIES TIMEOUT 240 LABELS check)
add_test(NAME check.hazards.signals COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/signal_calls_test.sh ${PROJECT_BINARY_DIR})
set_tests_properties(check.hazards.signals PROPERTIES TIMEOUT 240 LABELS check)
