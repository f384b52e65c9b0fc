# `cpack -G DEB` and `cpack -G TGZ` in a build folder: packages for Debian, and an archive that
# works wherever it is unpacked. Nothing is compiled for them: they hold what
# cmake/WeirInstall.cmake installs. tools/package does both from a build folder of its own.
set(package_files ${PROJECT_SOURCE_DIR}/cmake/package)
set(CPACK_PACKAGE_NAME weir)
set(CPACK_PACKAGE_VENDOR "Weir developers")
set(CPACK_PACKAGE_CONTACT "Weir developers <weir@example.org>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_FILE_NAME weir-${PROJECT_VERSION}-x86_64)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_RESOURCE_FILE_README ${PROJECT_SOURCE_DIR}/README.md)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_COMPONENTS_ALL runtime devel debug)
foreach(component region dsm python fortran bench)
  string(TOUPPER ${component} option)
  if(WEIR_${option})
    list(APPEND CPACK_COMPONENTS_ALL ${component})
  endif()
endforeach()
set(CPACK_STRIP_FILES OFF)  # the installation has done it
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PROJECT_CONFIG_FILE ${package_files}/by_generator.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${package_files}/debian_files.cmake)
set(CPACK_WEIR_PACKAGE_FILES ${package_files})
set(CPACK_WEIR_SOURCE ${PROJECT_SOURCE_DIR})

# --- an archive: all but debug information, which is one of its own, to be unpacked in the same
#     place
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_WEIR_FILE_NAME ${CPACK_PACKAGE_FILE_NAME})
set(CPACK_ARCHIVE_DBGSYM_FILE_NAME ${CPACK_PACKAGE_FILE_NAME}-debug)

# --- packages, one for each of the groups in by_generator.cmake
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
set(CPACK_DEBIAN_PACKAGE_SOURCE weir)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "https://example.org/weir")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(same_version "weir (= ${PROJECT_VERSION})")

# debian_package(GROUP NAME SECTION SUMMARY TEXT)
macro(debian_package group name section summary text)
  set(CPACK_DEBIAN_${group}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${group}_FILE_NAME ${name}_${PROJECT_VERSION}_amd64.deb)
  set(CPACK_DEBIAN_${group}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${group}_DESCRIPTION "${summary}\n${text}")
endmacro()

debian_package(WEIR weir devel "deterministic runs, exact replay, race reports for threaded programs"
"Weir runs unmodified multithreaded programs and decides, page by page and
thread by thread, who may touch which memory, when, and in what order: by the
MMU, signals and a preloaded library, without a change of the kernel.
.
weir det makes every run of a program the same run. weir record and weir
replay repeat a run exactly, also in gdb. weir check reports data races with
both sides, stacks and the object. weir-cc compiles programs so that each
static variable is known by itself.")
set(CPACK_DEBIAN_WEIR_PACKAGE_SUGGESTS "gdb, gcc | clang, binutils")

debian_package(REGION libweir-region-dev libdevel "traps on regions of memory that a program defines itself"
"libweir-region protects any bytes of a program's own choice, many to a page,
without a system call, and calls a handler for accesses. This package has the
library, its headers for C and C++, and what pkg-config and CMake need.")
set(CPACK_DEBIAN_REGION_PACKAGE_DEPENDS "${same_version}")

debian_package(DSM libweir-dsm-dev libdevel "distributed shared memory for the nodes of an MPI job"
"libweir-dsm gives the processes that mpirun starts one shared memory, over
UCX, and sends data before it is asked for where a program says so. This
package has the library, its modules for Open MPI and MPICH, its headers for C
and C++ and the source of the Fortran module, what pkg-config and CMake need;
weir-dsm-run, which starts a program on several nodes, weir-dsm-report, which
makes a page of a run, and weir-dsm-predict, which tells what a recorded run
would take on another network.")
set(CPACK_DEBIAN_DSM_PACKAGE_DEPENDS "${same_version}, libweir-region-dev (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DSM_PACKAGE_RECOMMENDS "openmpi-bin | mpich, python3")

debian_package(PYTHON python3-weir-dsm python "numpy arrays that all nodes of an MPI job share"
"The Python package weir_dsm: shared numpy arrays, locks, barriers and
reductions over libweir-dsm, and python3 -m weir_dsm.run, which starts the
nodes.")
if(WEIR_PYTHON)
  string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" python "${WEIR_PYTHON_VERSION}")
  math(EXPR next_python "${CMAKE_MATCH_2} + 1")  # a compiled module is for one release of Python
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "${same_version}, libweir-dsm-dev (= ${PROJECT_VERSION}), \
python3 (>= ${WEIR_PYTHON_VERSION}~), python3 (<< ${CMAKE_MATCH_1}.${next_python}~), python3-numpy")
endif()

debian_package(BENCH weir-bench devel "measures what Weir costs programs"
"weir-bench runs workloads, or a command of the user's own, natively and at
points of Order x View, in paired runs, and reports ratios with their spread.
This package has the command and the workloads.")
set(CPACK_DEBIAN_BENCH_PACKAGE_DEPENDS "${same_version}, python3")
set(CPACK_DEBIAN_BENCH_PACKAGE_RECOMMENDS "python3-matplotlib")
set(CPACK_DEBIAN_BENCH_PACKAGE_SUGGESTS "valgrind")

debian_package(DBGSYM weir-dbgsym debug "debug information of Weir"
"gdb finds it by itself: for the command weir, libweir.so and Weir's other
libraries and commands.")
set(CPACK_DEBIAN_DBGSYM_PACKAGE_DEPENDS "${same_version}")
set(CPACK_DEBIAN_DBGSYM_PACKAGE_SHLIBDEPS OFF)

include(CPack)
