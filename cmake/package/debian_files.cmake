# Run by cpack before it makes packages for Debian: what Debian wants beside what is installed. Each group of
# components lies in a folder of its own.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

function(gzip file)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(names weir:weir region:libweir-region-dev dsm:libweir-dsm-dev python:python3-weir-dsm bench:weir-bench dbgsym:weir-dbgsym)
foreach(pair IN LISTS names)
  string(REPLACE ":" ";" pair ${pair})
  list(POP_FRONT pair group name)
  set(usr ${CPACK_TEMPORARY_DIRECTORY}/${group}/usr)
  if(NOT EXISTS ${usr})
    continue()
  endif()
  file(GLOB manuals ${usr}/share/man/man*/*.[0-9])
  foreach(manual IN LISTS manuals)
    file(READ ${manual} text)
    if(text MATCHES "^\\.so ([^\n]+)")  # Debian wants a link
      get_filename_component(target ${CMAKE_MATCH_1} NAME)
      file(REMOVE ${manual})
      file(CREATE_LINK ${target}.gz ${manual}.gz SYMBOLIC)
      continue()
    endif()
    gzip(${manual})
  endforeach()
  if(EXISTS ${CPACK_WEIR_PACKAGE_FILES}/overrides.${name})
    configure_file(${CPACK_WEIR_PACKAGE_FILES}/overrides.${name} ${usr}/share/lintian/overrides/${name} COPYONLY)
  endif()
  if(NOT name STREQUAL "weir")  # each depends on weir of the same version
    file(MAKE_DIRECTORY ${usr}/share/doc)
    file(CREATE_LINK weir ${usr}/share/doc/${name} SYMBOLIC)
  endif()
endforeach()

# zsh of a Debian looks for what packages bring in a folder of its own.
foreach(group weir dsm)
  set(zsh ${CPACK_TEMPORARY_DIRECTORY}/${group}/usr/share/zsh)
  if(group STREQUAL "weir" OR EXISTS ${zsh})
    file(RENAME ${zsh}/site-functions ${zsh}/vendor-completions)
  endif()
endforeach()

# The documents of the package weir. Debian has the Apache license and the GPL in /usr/share/common-licenses.
set(doc ${CPACK_TEMPORARY_DIRECTORY}/weir/usr/share/doc/weir)
file(READ ${doc}/NOTICE notice)
file(WRITE ${doc}/copyright "${notice}")
file(REMOVE_RECURSE ${doc}/NOTICE ${doc}/LICENSE ${doc}/licenses)
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  set(time @$ENV{SOURCE_DATE_EPOCH})
else()
  execute_process(COMMAND git -C ${CPACK_WEIR_SOURCE} log -1 --format=%cI OUTPUT_VARIABLE time OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT time)
  set(time now)
endif()
execute_process(COMMAND env LC_ALL=C date --utc --rfc-email --date ${time}
  OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${doc}/changelog "weir (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * CHANGELOG.md, beside this file, says what has changed.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
gzip(${doc}/changelog)
