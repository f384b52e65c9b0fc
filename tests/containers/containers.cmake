# Filters, users and mounts as containers have them: what weir doctor says is what comes out.
foreach(case docker docker_user podman podman_user bare ptrace personality both memfd perf clone3 seccomp process_vm none)
  add_test(NAME containers.${case} COMMAND ${CMAKE_CURRENT_LIST_DIR}/run.py ${PROJECT_BINARY_DIR} ${case})
  set_tests_properties(containers.${case} PROPERTIES TIMEOUT 600 LABELS cli)
endforeach()
