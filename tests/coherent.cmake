# --- View coherent without a recording: loops that wait, and what is sent to tasks in such loops. A
#     task may be stopped anywhere there.
foreach(name spin_counting spin_kinds spin_volatile_flag spin_beside_own_data keys_destructor_spins
    cancel_asynchronous exit_from_thread place_threads)
  add_test(NAME coherent.${name}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_point.sh ${PROJECT_BINARY_DIR} ${name} free coherent 3)
  set_tests_properties(coherent.${name} PROPERTIES TIMEOUT 90 LABELS program)
endforeach()
