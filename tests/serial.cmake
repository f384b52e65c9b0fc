# --- Order serial: schedules find planted bugs (serial_test.sh), and every program of the manifest runs under some
foreach(name lost_update order_violation atomicity lock_order lost_wakeup spin endless plain_add
    changes counting waiting starving computing cancel_in_clock)
  add_executable(serial_${name} serial/${name}.c)
  set_target_properties(serial_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/serial)
  target_compile_options(serial_${name} PRIVATE -O1 -g)
  target_link_libraries(serial_${name} PRIVATE Threads::Threads)
endforeach()
add_test(NAME serial.bugs COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/serial_test.sh ${PROJECT_BINARY_DIR})
set_tests_properties(serial.bugs PROPERTIES TIMEOUT 600 LABELS "cli;serial")

add_test(NAME serial.heap COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/serial_heap_test.sh ${PROJECT_BINARY_DIR})
set_tests_properties(serial.heap PROPERTIES TIMEOUT 600 LABELS "cli;serial")

foreach(seed RANGE 2 5)  # a thread is cancelled inside the vDSO
  add_test(NAME serial.cancel_in_clock.${seed} COMMAND weir run --order serial --view direct
    --schedule w3:random:seed=${seed},p=0.003 -- $<TARGET_FILE:serial_cancel_in_clock>)
  set_tests_properties(serial.cancel_in_clock.${seed} PROPERTIES TIMEOUT 60 LABELS "cli;serial"
    PASS_REGULAR_EXPRESSION "all threads were unwound")
endforeach()

# Each schedule is the same run twice, and ends as it may. ./check has programs whose tasks wake each other in the
# kernel, end beside each other, and wait for children; the test serial.schedules.all has every program.
add_test(NAME serial.schedules COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/serial/schedules.py ${PROJECT_BINARY_DIR}
  mutex_robust kept_for_life create_sees_all create_beside_join cancel_blocked kill_thread pipe_threads poll_select
  signal_wait condition_kinds --schedules 4 --twice 4 --seconds 12)
set_tests_properties(serial.schedules PROPERTIES TIMEOUT 400 LABELS "cli;serial")
add_test(NAME serial.schedules.all COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/serial/schedules.py ${PROJECT_BINARY_DIR}
  --schedules 100 --twice 7 --seconds 20)
set_tests_properties(serial.schedules.all PROPERTIES TIMEOUT 7200 LABELS "cli;serial;rest")

# Those that take long, because their loops are many steps, have the label rest.
set(long cpu_clocks exit_beside_kept fork_beside_computing kernel_fills_memory lock_mcs lock_ticket pointer_publication
  spin_beside_own_data timers_profile)
set(guarded heap_family heap_exchange malloc_family fork_in_thread dlopen_from_thread std_future)
file(STRINGS ${manifest} lines REGEX "^[a-z0-9_]+ *[|]")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^[a-z0-9_]+" name "${line}")
  add_test(NAME program.${name}.serial-direct
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/serial_point.sh ${PROJECT_BINARY_DIR} ${name})
  set(labels serial serial-direct)
  if(name IN_LIST long)
    list(APPEND labels rest)
  endif()
  set_tests_properties(program.${name}.serial-direct PROPERTIES TIMEOUT 240 LABELS "${labels}")
  # Guarded, none misuses its heap. Those whose heap does most are in ./check, too.
  add_test(NAME program.${name}.serial-guarded
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/serial_point.sh ${PROJECT_BINARY_DIR} ${name} guarded)
  set(guarded_labels serial serial-guarded)
  if(NOT name IN_LIST guarded)
    list(APPEND guarded_labels rest)
  endif()
  set_tests_properties(program.${name}.serial-guarded PROPERTIES TIMEOUT 600 LABELS "${guarded_labels}" ENVIRONMENT LIMIT=60)
  if(name IN_LIST long)
    set_tests_properties(program.${name}.serial-direct PROPERTIES TIMEOUT 1200 ENVIRONMENT LIMIT=150)
  endif()
endforeach()
