# On machines that nobody has used (tests/fresh): ./demo works on each release from nothing, and a
# missing package is noticed. What is tested is what is committed. Each runs alone: it installs and
# compiles with all processors. ./check has the demo of the earlier release, and the packages on the
# later one; `./check --all` has them on both, and a whole ./check and the compilers of each, and
# libweir-dsm by the MPIs of the later one.
set(releases bookworm trixie)
if(DEFINED ENV{WEIR_FRESH})
  message(NOTICE "-- fresh.* are left out: this is such a machine itself")
  return()
endif()
foreach(release IN LISTS releases)
  add_test(NAME fresh.demo.${release} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/fresh ${release} ./demo)
  set_tests_properties(fresh.demo.${release} PROPERTIES TIMEOUT 900 LABELS fresh RUN_SERIAL ON)
  add_test(NAME fresh.check.${release} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/fresh ${release} ./check)
  set_tests_properties(fresh.check.${release} PROPERTIES TIMEOUT 7200 LABELS "fresh;rest" RUN_SERIAL ON)
endforeach()
# The compilers that one of the releases has and this one may lack.
foreach(release IN LISTS releases)
  add_test(NAME fresh.compilers.${release} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/fresh ${release} tests/compilers.sh build/release all)
  set_tests_properties(fresh.compilers.${release} PROPERTIES TIMEOUT 7200 LABELS "fresh;rest" RUN_SERIAL ON)
endforeach()
# Open MPI 5 and MPICH 4.2, which the later release has: libweir-dsm alone is built there, and all of its tests run, by both. It takes 25 minutes on
# two idle processors.
add_test(NAME fresh.dsm.trixie COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/fresh trixie tests/dsm/suite.sh)
set_tests_properties(fresh.dsm.trixie PROPERTIES TIMEOUT 5400 LABELS "fresh;rest" RUN_SERIAL ON)
# Packages, which programs of a release run on that release and later ones: built here, used on
# both by a user who has not seen the source.
file(STRINGS /etc/os-release here REGEX "^VERSION_CODENAME=")
add_test(NAME fresh.package COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/package_test.sh ${PROJECT_BINARY_DIR} make)
set_tests_properties(fresh.package PROPERTIES TIMEOUT 300 LABELS fresh FIXTURES_SETUP packages)
foreach(release IN LISTS releases)
  if(here MATCHES "=trixie$" AND release STREQUAL "bookworm")
    message(NOTICE "-- fresh.package.bookworm is left out: what is built on trixie wants trixie's C library")
    continue()
  endif()
  add_test(NAME fresh.package.${release} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/package_test.sh ${PROJECT_BINARY_DIR} ${release})
  set_tests_properties(fresh.package.${release} PROPERTIES TIMEOUT 900 LABELS fresh RUN_SERIAL ON FIXTURES_REQUIRED packages)
endforeach()
set_property(TEST fresh.demo.trixie APPEND PROPERTY LABELS rest)
if(TEST fresh.package.bookworm)
  set_property(TEST fresh.package.bookworm APPEND PROPERTY LABELS rest)
endif()
# The oldest C library: Debian 11's.
add_test(NAME fresh.libc.bullseye COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/old_libc_test.sh ${PROJECT_BINARY_DIR})
set_tests_properties(fresh.libc.bullseye PROPERTIES TIMEOUT 1800 LABELS "fresh;rest" RUN_SERIAL ON)
add_test(NAME fresh.bites COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/fresh_test.sh)
set_tests_properties(fresh.bites PROPERTIES TIMEOUT 600 LABELS fresh RUN_SERIAL ON)
