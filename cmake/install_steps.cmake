# What cmake/WeirInstall.cmake does at installation, by its variables. Paths are relative to the
# prefix.

# Libraries: as the build was told; below /usr of a Debian its multiarch folder, as GNUInstallDirs
# says for builds with that prefix.
set(weir_libdir ${weir_configured_libdir})
if(weir_libdir STREQUAL "lib" AND CMAKE_INSTALL_PREFIX MATCHES "(^|/)usr/?$" AND weir_architecture)
  set(weir_libdir lib/${weir_architecture})
endif()
# The Python package: where Debian's Python looks, or below the prefix as Python has it.
set(weir_pythondir lib/python${weir_python_version}/site-packages/weir_dsm)
if(CMAKE_INSTALL_PREFIX MATCHES "(^|/)usr/?$")
  set(weir_pythondir lib/python3/dist-packages/weir_dsm)
endif()
set(weir_root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")

# The debug information of a program or library that was built, in a file that gdb can read.
function(weir_debug_file built out)
  get_filename_component(name ${built} NAME)
  set(file ${weir_build}/debug/${name}.debug)
  if(NOT EXISTS ${file} OR ${built} IS_NEWER_THAN ${file})
    file(MAKE_DIRECTORY ${weir_build}/debug)
    string(RANDOM LENGTH 8 suffix)  # installations may run side by side
    execute_process(COMMAND ${weir_objcopy} --only-keep-debug --compress-debug-sections=zlib ${built} ${file}.${suffix}
      COMMAND_ERROR_IS_FATAL ANY)
    file(RENAME ${file}.${suffix} ${file})
  endif()
  set(${out} ${file} PARENT_SCOPE)
endfunction()

function(weir_strip built placed)
  weir_debug_file(${built} file)
  execute_process(COMMAND ${weir_objcopy} --strip-unneeded --remove-section=.comment --add-gnu-debuglink=${file}
    ${weir_root}/${placed} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(weir_strip_debug placed)
  execute_process(COMMAND ${weir_objcopy} --strip-debug --remove-section=.comment ${weir_root}/${placed} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Below /usr gdb looks by the build's number, which is in the file itself; elsewhere beside the
# file.
function(weir_keep_debug built placed)
  weir_debug_file(${built} file)
  get_filename_component(folder ${placed} DIRECTORY)
  if(CMAKE_INSTALL_PREFIX MATCHES "(^|/)usr/?$")
    execute_process(COMMAND readelf -n ${built} OUTPUT_VARIABLE notes COMMAND_ERROR_IS_FATAL ANY)
    if(notes MATCHES "Build ID: ([0-9a-f][0-9a-f])([0-9a-f]+)")
      file(INSTALL ${file} DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/debug/.build-id/${CMAKE_MATCH_1} RENAME ${CMAKE_MATCH_2}.debug)
      return()
    endif()
    set(folder lib/debug/usr/${folder})
  else()
    set(folder ${folder}/.debug)
  endif()
  file(INSTALL ${file} DESTINATION ${CMAKE_INSTALL_PREFIX}/${folder})
endfunction()

# A symbolic link at `placed` to `target`, both below the prefix; a target without a folder lies
# beside it.
function(weir_link target placed)
  get_filename_component(folder ${placed} DIRECTORY)
  if(target MATCHES "/")
    file(RELATIVE_PATH target /${folder} /${target})
  endif()
  file(MAKE_DIRECTORY ${weir_root}/${folder})
  file(CREATE_LINK ${target} ${weir_root}/${placed} SYMBOLIC)
  message(STATUS "Installing: ${weir_root}/${placed}")
endfunction()

# A file that knows its way to the prefix from the folder in which it lies.
function(weir_configure template placed)
  get_filename_component(folder ${placed} DIRECTORY)
  file(RELATIVE_PATH WEIR_TO_PREFIX /${folder}/ /)
  string(REGEX REPLACE "/$" "" WEIR_TO_PREFIX "${WEIR_TO_PREFIX}")
  configure_file(${template} ${weir_root}/${placed} @ONLY NO_SOURCE_PERMISSIONS)
  message(STATUS "Installing: ${weir_root}/${placed}")
endfunction()
