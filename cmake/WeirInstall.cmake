# `cmake --install`: the whole of Weir, below any prefix, and moved from there as one likes.
# Components:
#   runtime   weir, weir-cc, weir-c++, libweir.so, weir-host; manual, completions, documents
#   devel     weir/weir.h, weir/weir.hpp, pkg-config's weir.pc, the CMake package Weir
#   region    libweir-region and what a program is built with to use it
#   dsm       libweir-dsm with its modules for MPIs, weir-dsm-run, weir-dsm-report, weir-dsm-predict,
#             and the same
#   python    the Python package weir_dsm
#   fortran   the source of the Fortran module weir_dsm, which each compiler compiles for itself
#   bench     weir-bench and its workloads
#   debug     debug information, which is taken out of all of these: where gdb looks for it
# The CMake package is in devel; each library adds its targets to it. Packages: WeirPackages.cmake.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Some things are settled as late as the installation, whose prefix may be another than that of the
# build: the folder of libraries (below /usr of a Debian, its multiarch folder) and where debug
# information goes.
find_program(WEIR_OBJCOPY objcopy REQUIRED)
install(CODE "
set(weir_build [[${PROJECT_BINARY_DIR}]])
set(weir_objcopy [[${WEIR_OBJCOPY}]])
set(weir_configured_libdir [[${CMAKE_INSTALL_LIBDIR}]])
set(weir_architecture [[${CMAKE_LIBRARY_ARCHITECTURE}]])
set(weir_includedir [[${CMAKE_INSTALL_INCLUDEDIR}]])
set(weir_bindir [[${CMAKE_INSTALL_BINDIR}]])
set(weir_version [[${PROJECT_VERSION}]])
set(weir_python_version [[${WEIR_PYTHON_VERSION}]])
include([[${PROJECT_SOURCE_DIR}/cmake/install_steps.cmake]])
" ALL_COMPONENTS)
set(libdir "\${weir_libdir}")
set(datadir ${CMAKE_INSTALL_DATAROOTDIR})
set(libexec ${CMAKE_INSTALL_LIBEXECDIR}/weir)

# weir_stripped(COMPONENT BUILT PLACED): the file PLACED, of the same component, which was BUILT,
# loses its debug information to component debug.
function(weir_stripped component built placed)
  install(CODE "weir_strip([[${built}]] \"${placed}\")" COMPONENT ${component})
  install(CODE "weir_keep_debug([[${built}]] \"${placed}\")" COMPONENT debug)
endfunction()

# weir_install_programs(COMPONENT DESTINATION FILE...)
function(weir_install_programs component destination)
  install(PROGRAMS ${ARGN} DESTINATION "${destination}" COMPONENT ${component})
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME)
    weir_stripped(${component} ${file} "${destination}/${name}")
  endforeach()
endfunction()

# weir_configured(COMPONENT TEMPLATE PLACED)
function(weir_configured component template placed)
  install(CODE "weir_configure([[${PROJECT_SOURCE_DIR}/cmake/${template}]] \"${placed}\")" COMPONENT ${component})
endfunction()

# --- the command, the compilers, the library
set(out ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
weir_install_programs(runtime ${CMAKE_INSTALL_BINDIR} ${out}/weir ${out}/weir-cc)
install(CODE "weir_link(weir-cc \"\${weir_bindir}/weir-c++\")
weir_link(\"\${weir_bindir}/weir-cc\" \"\${weir_libdir}/weir-cc/as\")" COMPONENT runtime)
install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libweir.so DESTINATION "${libdir}" COMPONENT runtime)
weir_stripped(runtime ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libweir.so "${libdir}/libweir.so")
weir_install_programs(runtime "${libdir}" ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/weir-host)

# --- manual and completions, which the command itself writes (src/cli/manual.cc,
#     src/cli/command_line/completion.cc), and
# the headers' manual, which is their comments (tools/header-manual)
set(share ${PROJECT_BINARY_DIR}/share)
add_custom_command(OUTPUT ${share}/man/man1/weir.1 COMMAND $<TARGET_FILE:weir> manual ${share} DEPENDS weir VERBATIM)
find_package(Python3 QUIET COMPONENTS Interpreter)
set(manuals ${share}/man/man1/weir.1)
set(man3)
if(Python3_FOUND)
  foreach(pair weir.h:weir.h region.h:weir-region dsm.h:weir-dsm)
    string(REPLACE ":" ";" pair ${pair})
    list(POP_FRONT pair header page)
    set(header ${PROJECT_SOURCE_DIR}/include/weir/${header})
    add_custom_command(OUTPUT ${share}/man/man3/${page}.3
      COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/header-manual ${header} ${page} ${PROJECT_VERSION} ${share}/man/man3/${page}.3
      DEPENDS ${header} ${PROJECT_SOURCE_DIR}/tools/header-manual VERBATIM)
    list(APPEND manuals ${share}/man/man3/${page}.3)
  endforeach()
  # weir_help_manual(COMPONENT COMMAND DEPENDENCY PURPOSE): the manual of a command whose help says
  # all.
  function(weir_help_manual component command dependency purpose)
    set(page ${share}/man1-${component}/${command}.1)
    add_custom_command(OUTPUT ${page}
      COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/help-manual ${command} ${purpose} ${PROJECT_VERSION} ${page}
              ${out}/${command}
      DEPENDS ${dependency} ${PROJECT_SOURCE_DIR}/tools/help-manual VERBATIM)
    set(manuals ${manuals} ${page} PARENT_SCOPE)
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
  endfunction()
  if(WEIR_DSM)
    weir_help_manual(dsm weir-dsm-predict weir-dsm-predict "what a recorded run would take on another network")
    weir_help_manual(dsm weir-dsm-run weir-dsm-run "runs a program of libweir-dsm on several nodes")
    weir_help_manual(dsm weir-dsm-report ${PROJECT_SOURCE_DIR}/src/dsm/commands/weir-dsm-report "makes a page of a run of libweir-dsm")
    # What libweir-dsm and what it stands on install, without the command `weir` (tests/dsm/suite.sh).
    set(of_dsm ${manuals})
    list(REMOVE_ITEM of_dsm ${share}/man/man1/weir.1)
    add_custom_target(weir_dsm_manual DEPENDS ${of_dsm})
  endif()
  if(WEIR_BENCH)
    weir_help_manual(bench weir-bench ${PROJECT_SOURCE_DIR}/bench/weir_bench/command_line.py "measures what Weir costs programs")
  endif()
  set(man3 yes)
elseif(WEIR_REQUIRE_COMPONENTS)
  message(FATAL_ERROR "python3 is missing, which writes manual pages. Install python3")
else()
  message(NOTICE "-- the manual of the headers (man 3) is left out: python3 is missing. Install python3")
endif()
add_custom_target(weir_manual ALL DEPENDS ${manuals})
install(FILES docs/man/weir-cc.1 docs/man/weir-c++.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
install(DIRECTORY ${share}/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT runtime)
install(FILES ${share}/bash-completion/completions/weir DESTINATION ${datadir}/bash-completion/completions COMPONENT runtime)
install(FILES ${share}/zsh/site-functions/_weir DESTINATION ${datadir}/zsh/site-functions COMPONENT runtime)
install(FILES ${share}/fish/vendor_completions.d/weir.fish DESTINATION ${datadir}/fish/vendor_completions.d COMPONENT runtime)
function(weir_install_man3 component page)
  if(man3)
    install(FILES ${share}/man/man3/${page}.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT ${component})
  endif()
endfunction()
weir_install_man3(devel weir.h)

# --- documents
install(FILES README.md LICENSE NOTICE CHANGELOG.md SECURITY.md DESTINATION ${datadir}/doc/weir COMPONENT runtime)
install(DIRECTORY licenses docs DESTINATION ${datadir}/doc/weir COMPONENT runtime
  FILES_MATCHING PATTERN "*.md" PATTERN "*GPL-*" PATTERN man EXCLUDE)

# --- for programs that use Weir
install(FILES include/weir/weir.h include/weir/weir.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weir COMPONENT devel)
weir_configured(devel weir.pc.in "${libdir}/pkgconfig/weir.pc")
weir_configured(devel WeirConfig.cmake.in "${libdir}/cmake/Weir/WeirConfig.cmake")
# What 0.1 had, later versions have.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/WeirConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/WeirConfigVersion.cmake DESTINATION "${libdir}/cmake/Weir" COMPONENT devel)

function(weir_install_library library)
  install(TARGETS weir_${library}
    LIBRARY DESTINATION "${libdir}" COMPONENT ${library}
    PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weir COMPONENT ${library})
  weir_stripped(${library} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libweir-${library}.so.${PROJECT_VERSION}
    "${libdir}/libweir-${library}.so.${PROJECT_VERSION}")
  weir_configured(${library} weir-${library}.pc.in "${libdir}/pkgconfig/weir-${library}.pc")
  weir_configured(${library} Weir-${library}.cmake.in "${libdir}/cmake/Weir/Weir-${library}.cmake")
  weir_install_man3(${library} weir-${library})
endfunction()

if(WEIR_REGION)
  weir_install_library(region)
endif()
if(WEIR_DSM)
  # Each finds what it needs beside itself: libweir-dsm libweir-region, and the modules for MPIs.
  set_target_properties(weir_dsm PROPERTIES INSTALL_RPATH "$ORIGIN")
  weir_install_library(dsm)
  install(FILES ${WEIR_DSM_MODULES} DESTINATION "${libdir}" COMPONENT dsm)
  foreach(module IN LISTS WEIR_DSM_MODULES)
    get_filename_component(name ${module} NAME)
    weir_stripped(dsm ${module} "${libdir}/${name}")
  endforeach()
  weir_install_programs(dsm ${CMAKE_INSTALL_BINDIR} ${out}/weir-dsm-predict ${out}/weir-dsm-run)
  install(PROGRAMS src/dsm/commands/weir-dsm-report DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT dsm)
  # Completions, which the commands write themselves.
  set(completions)
  foreach(command run report)
    set(dependency ${PROJECT_SOURCE_DIR}/src/dsm/commands/weir-dsm-report)
    if(command STREQUAL "run")
      set(dependency weir-dsm-run)
    endif()
    foreach(place bash-completion/completions/weir-dsm-${command} zsh/site-functions/_weir-dsm-${command}
            fish/vendor_completions.d/weir-dsm-${command}.fish)
      string(REGEX MATCH "^[a-z]+" shell ${place})
      get_filename_component(folder ${place} DIRECTORY)
      add_custom_command(OUTPUT ${share}/dsm/${place}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${share}/dsm/${folder}
        COMMAND ${out}/weir-dsm-${command} --completion ${shell} > ${share}/dsm/${place}
        DEPENDS ${dependency} VERBATIM)
      list(APPEND completions ${share}/dsm/${place})
      install(FILES ${share}/dsm/${place} DESTINATION ${datadir}/${folder} COMPONENT dsm)
    endforeach()
  endforeach()
  add_custom_target(weir_dsm_completions ALL DEPENDS ${completions})
endif()

if(WEIR_PYTHON)
  if(NOT SKBUILD)  # else bindings/python says what goes where
    # From lib/pythonVERSION/site-packages/weir_dsm, or Debian's lib/python3/dist-packages.
    set_target_properties(weir_python PROPERTIES INSTALL_RPATH "$ORIGIN/../../../../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS weir_python LIBRARY DESTINATION "\${weir_pythondir}" COMPONENT python)
    weir_stripped(python ${PROJECT_BINARY_DIR}/python/weir_dsm/_core${WEIR_PYTHON_SUFFIX} "\${weir_pythondir}/_core${WEIR_PYTHON_SUFFIX}")
    install(DIRECTORY bindings/python/weir_dsm/ DESTINATION "\${weir_pythondir}" COMPONENT python FILES_MATCHING PATTERN "*.py")
  endif()
endif()
if(WEIR_FORTRAN)
  install(FILES bindings/fortran/weir_dsm.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weir COMPONENT fortran)
endif()

# --- weir-bench: a folder that has what it looks for in a build, and its Python
if(WEIR_BENCH)
  get_property(programs DIRECTORY bench PROPERTY WEIR_BENCH_PROGRAMS)
  list(APPEND programs ${PROJECT_BINARY_DIR}/tests/programs/racey)
  add_custom_target(weir_bench_programs ALL)
  add_dependencies(weir_bench_programs test_racey)  # also if no tests are built
  foreach(program IN LISTS programs)
    file(RELATIVE_PATH folder ${PROJECT_BINARY_DIR} ${program})
    get_filename_component(folder ${folder} DIRECTORY)
    get_filename_component(name ${program} NAME)
    install(PROGRAMS ${program} DESTINATION ${libexec}/${folder} COMPONENT bench)
    # Names of static variables stay: weir check needs them.
    install(CODE "weir_strip_debug(\"${libexec}/${folder}/${name}\")" COMPONENT bench)
  endforeach()
  file(WRITE ${PROJECT_BINARY_DIR}/installed/version "weir ${PROJECT_VERSION}\n")
  install(CODE "weir_link(\"\${weir_bindir}/weir\" \"${libexec}/bin/weir\")" COMPONENT bench)
  install(DIRECTORY bench/weir_bench bench/papers DESTINATION ${datadir}/weir/bench COMPONENT bench
    PATTERN __pycache__ EXCLUDE)
  install(FILES bench/targets.json ${PROJECT_BINARY_DIR}/installed/version DESTINATION ${datadir}/weir/bench COMPONENT bench)
  file(RELATIVE_PATH WEIR_BENCH_PYTHON /${CMAKE_INSTALL_BINDIR} /${datadir}/weir/bench)
  file(RELATIVE_PATH WEIR_BENCH_BUILD /${CMAKE_INSTALL_BINDIR} /${libexec})
  configure_file(bench/weir-bench-installed.in ${PROJECT_BINARY_DIR}/installed/weir-bench @ONLY)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/installed/weir-bench DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT bench)
endif()

include(WeirPackages)
