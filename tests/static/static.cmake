# Statically linked programs.
foreach(part glibc musl go execute)
  add_test(NAME static.${part}
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/run.sh ${PROJECT_BINARY_DIR} ${part})
  set_tests_properties(static.${part} PROPERTIES TIMEOUT 600 LABELS "cli")
endforeach()
