# What is built. The command `weir` and libweir.so always are. Each option below is a component;
# if a library that it needs is missing, the component is left out, and a line says so and what to
# install. WEIR_REQUIRE_COMPONENTS=ON makes that line an error: ./check sets it, so that nothing
# goes untested unseen. Names of packages are Debian's.
option(WEIR_REGION "Build libweir-region: traps on regions of a program's own choice" ON)
option(WEIR_DSM "Build libweir-dsm: distributed shared memory over UCX and MPI; needs WEIR_REGION" ON)
option(WEIR_PYTHON "Build the Python package weir_dsm; needs WEIR_DSM" ON)
option(WEIR_FORTRAN "Build the Fortran module weir_dsm; needs WEIR_DSM" ON)
option(WEIR_BENCH "Build the workloads and weir-bench, which measures them" ON)
option(WEIR_TESTS "Build the tests" ON)
option(WEIR_REQUIRE_COMPONENTS "Stop if a component that is switched on cannot be built" OFF)

# weir_need(WHAT PACKAGE FOUND...): stops if one of the variables FOUND is false. For what `weir`
# itself needs.
function(weir_need what package)
  foreach(found IN LISTS ARGN)
    if(NOT ${found})
      message(FATAL_ERROR "${what} is missing, which the command weir needs. "
        "Install ${package}, or let tools/setup do it: tools/setup build")
    endif()
  endforeach()
endfunction()

# weir_component_needs(OPTION WHAT PACKAGE FOUND...): switches the component off in this build if
# one of the variables FOUND is false, and says so.
function(weir_component_needs option what package)
  if(NOT ${option})
    return()
  endif()
  foreach(found IN LISTS ARGN)
    if(NOT ${found})
      set(text "${option} is left out: ${what} is missing. Install ${package}, or set -D${option}=OFF")
      if(WEIR_REQUIRE_COMPONENTS)
        message(FATAL_ERROR "${text}")
      endif()
      message(NOTICE "-- ${text}")
      set(${option} OFF PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# --- the command and libweir.so
find_package(Threads REQUIRED)
find_package(fmt QUIET)
weir_need("fmt" libfmt-dev fmt_FOUND)
find_package(CLI11 QUIET)
weir_need("CLI11" libcli11-dev CLI11_FOUND)
find_package(nlohmann_json QUIET)
weir_need("nlohmann-json" nlohmann-json3-dev nlohmann_json_FOUND)
find_library(WEIR_ZSTD libzstd.a)
weir_need("zstd as a static library" libzstd-dev WEIR_ZSTD)
# Reads debug information, with what that is packed by; static, as the command is.
set(weir_debug_info)
set(weir_packages dw libdw-dev elf libelf-dev lzma liblzma-dev bz2 libbz2-dev z zlib1g-dev)
while(weir_packages)
  list(POP_FRONT weir_packages name package)
  find_library(WEIR_LIB_${name} lib${name}.a)
  weir_need("lib${name}.a" ${package} WEIR_LIB_${name})
  list(APPEND weir_debug_info ${WEIR_LIB_${name}})
endwhile()
list(APPEND weir_debug_info ${WEIR_ZSTD})

# --- libweir-dsm: UCX, and at least one MPI
if(WEIR_DSM AND NOT WEIR_REGION)
  set(text "WEIR_DSM is left out: it is built on WEIR_REGION, which is switched off")
  if(WEIR_REQUIRE_COMPONENTS)
    message(FATAL_ERROR "${text}")
  endif()
  message(NOTICE "-- ${text}")
  set(WEIR_DSM OFF)
endif()
if(WEIR_DSM)
  find_library(WEIR_UCP ucp)
  find_library(WEIR_UCS ucs)
  find_path(WEIR_UCX_INCLUDE ucp/api/ucp.h)
  weir_component_needs(WEIR_DSM "UCX" libucx-dev WEIR_UCP WEIR_UCS WEIR_UCX_INCLUDE)
  set(WEIR_MPIS)
  foreach(mpi openmpi mpich)
    find_program(WEIR_MPICC_${mpi} mpicc.${mpi})
    if(WEIR_MPICC_${mpi})
      list(APPEND WEIR_MPIS ${mpi})
    elseif(WEIR_DSM)
      set(text "libweir-dsm is built without its module for ${mpi}: mpicc.${mpi} is missing. Install lib${mpi}-dev")
      if(WEIR_REQUIRE_COMPONENTS)
        message(FATAL_ERROR "${text}")
      endif()
      message(NOTICE "-- ${text}")
    endif()
  endforeach()
  weir_component_needs(WEIR_DSM "an MPI (mpicc.openmpi or mpicc.mpich)" "libopenmpi-dev or libmpich-dev" WEIR_MPIS)
endif()

# --- languages for libweir-dsm; without it there is nothing to call
foreach(language PYTHON FORTRAN)
  if(WEIR_${language} AND NOT WEIR_DSM)
    set(WEIR_${language} OFF)
  endif()
endforeach()
if(WEIR_PYTHON)
  # Debian's Python, since its numpy is a package too; a wheel is for the one that builds it. Another:
  # -DWEIR_PYTHON_EXECUTABLE=...
  if(SKBUILD)
    set(WEIR_PYTHON_EXECUTABLE ${Python3_EXECUTABLE})
  endif()
  find_program(WEIR_PYTHON_EXECUTABLE python3 PATHS /usr/bin NO_DEFAULT_PATH)
  find_program(WEIR_PYTHON_EXECUTABLE python3)
  weir_component_needs(WEIR_PYTHON "python3" "python3" WEIR_PYTHON_EXECUTABLE)
endif()
if(WEIR_PYTHON)
  execute_process(COMMAND ${WEIR_PYTHON_EXECUTABLE} -c "if True:
    import sys, sysconfig
    print(sysconfig.get_path('include'), sysconfig.get_config_var('EXT_SUFFIX'), '%d.%d' % sys.version_info[:2])
    try:
        import pybind11
        print(pybind11.get_include())
    except ImportError:
        print('')
    try:
        import numpy
        print('yes')
    except ImportError:
        print('')"
    OUTPUT_VARIABLE about ERROR_QUIET)  # one without its library says nothing, and is left out
  string(REGEX MATCH "^([^ ]+) ([^ ]+) ([^\n]+)\n([^\n]*)\n([^\n]*)" about "${about}")
  set(python_include ${CMAKE_MATCH_1})
  set(WEIR_PYTHON_SUFFIX ${CMAKE_MATCH_2})
  set(WEIR_PYTHON_VERSION ${CMAKE_MATCH_3})
  set(pybind11_hint "${CMAKE_MATCH_4}")
  set(WEIR_PYTHON_NUMPY "${CMAKE_MATCH_5}")
  find_path(WEIR_PYTHON_INCLUDE Python.h PATHS "${python_include}" NO_DEFAULT_PATH)
  find_path(WEIR_PYBIND11_INCLUDE pybind11/pybind11.h HINTS ${pybind11_hint})
  weir_component_needs(WEIR_PYTHON "Python.h of ${WEIR_PYTHON_EXECUTABLE}" python3-dev WEIR_PYTHON_INCLUDE)
  weir_component_needs(WEIR_PYTHON "pybind11" pybind11-dev WEIR_PYBIND11_INCLUDE)
  if(NOT SKBUILD)
    weir_component_needs(WEIR_PYTHON "numpy of ${WEIR_PYTHON_EXECUTABLE}" python3-numpy WEIR_PYTHON_NUMPY)
  endif()
endif()
if(WEIR_FORTRAN)
  include(CheckLanguage)
  check_language(Fortran)
  weir_component_needs(WEIR_FORTRAN "a Fortran compiler" gfortran CMAKE_Fortran_COMPILER)
endif()

# --- weir-bench and its workloads
if(WEIR_BENCH)
  find_package(ZLIB QUIET)
  find_package(BZip2 QUIET)
  weir_component_needs(WEIR_BENCH "zlib" zlib1g-dev ZLIB_FOUND)
  weir_component_needs(WEIR_BENCH "bzip2's library" libbz2-dev BZIP2_FOUND)
endif()

# --- tests: they run the workloads too
if(WEIR_TESTS)
  find_package(GTest QUIET)
  weir_component_needs(WEIR_TESTS "GoogleTest" libgtest-dev GTest_FOUND)
endif()
