# Included by src/CMakeLists.txt if the component WEIR_DSM is built.
# --- libweir-dsm.so, over UCX; and for each MPI a module that starts it (src/dsm/net), which
#     libweir-dsm loads as it finds itself started by that MPI
file(GLOB_RECURSE dsm_sources CONFIGURE_DEPENDS dsm/*.cc tape/*.cc)
list(FILTER dsm_sources EXCLUDE REGEX "_test\\.cc$|/dsm/api/library\\.cc$|/dsm/(predict|commands)/")
list(APPEND dsm_sources ${CMAKE_CURRENT_SOURCE_DIR}/region/diff.cc ${CMAKE_CURRENT_SOURCE_DIR}/region/diff_vector_x86_64.cc)
file(GLOB effect_sources CONFIGURE_DEPENDS effects/*.cc)  # what system calls read and write
list(FILTER effect_sources EXCLUDE REGEX "_test\\.cc$")
list(APPEND dsm_sources ${effect_sources} ${CMAKE_CURRENT_SOURCE_DIR}/base/bytes.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/sys/maps.cc)  # what a forked child may write
add_library(weir_dsm_objects STATIC ${dsm_sources})
set_target_properties(weir_dsm_objects PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
# A folder at a time takes 20 s, file by file 45. Those left out have local names that others have
# too.
set(together ${dsm_sources})
list(FILTER together INCLUDE REGEX "/src/dsm/[a-z]+/[a-z_]+\\.cc$")
list(FILTER together EXCLUDE REGEX "/dsm/(net|segment|system_calls)/|/(api|checkpoint|waits)\\.cc$")
foreach(source IN LISTS together)
  string(REGEX REPLACE ".*/dsm/([a-z]+)/.*" "\\1" folder ${source})
  set_property(SOURCE ${source} PROPERTY UNITY_GROUP dsm_${folder})
endforeach()
set_target_properties(weir_dsm_objects PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
target_include_directories(weir_dsm_objects PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(weir_dsm_objects PUBLIC _GNU_SOURCE PRIVATE WEIR_IN_DSM WEIR_VERSION="${PROJECT_VERSION}")
target_compile_options(weir_dsm_objects PRIVATE $<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${CMAKE_CURRENT_SOURCE_DIR}/dsm/base/text_memory.h>)
target_link_libraries(weir_dsm_objects PRIVATE weir_warnings PUBLIC ${WEIR_UCP} ${WEIR_UCS} weir_region dl)
add_library(weir_dsm SHARED dsm/api/library.cc)
set_source_files_properties(dsm/api/library.cc PROPERTIES COMPILE_OPTIONS "${WEIR_HIDDEN_NEW}")
set_target_properties(weir_dsm PROPERTIES OUTPUT_NAME weir-dsm VERSION ${PROJECT_VERSION} SOVERSION 0
  PUBLIC_HEADER "${PROJECT_SOURCE_DIR}/include/weir/dsm.h;${PROJECT_SOURCE_DIR}/include/weir/dsm.hpp;${PROJECT_SOURCE_DIR}/include/weir/tape.hpp")
target_link_options(weir_dsm PRIVATE -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/dsm/api/exports.map)
set_property(TARGET weir_dsm APPEND PROPERTY LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/dsm/api/exports.map)
target_link_libraries(weir_dsm PRIVATE -Wl,--whole-archive weir_dsm_objects -Wl,--no-whole-archive weir_warnings)
target_link_libraries(weir_dsm INTERFACE weir_region)  # regions as units are attached by its calls too
target_include_directories(weir_dsm INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
set(dsm_modules)
foreach(mpi IN LISTS WEIR_MPIS)
  set(module ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libweir-dsm-${mpi}.so)
  add_custom_command(OUTPUT ${module}
    COMMAND ${WEIR_MPICC_${mpi}} -O2 -g -std=gnu11 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -I${CMAKE_CURRENT_SOURCE_DIR}
            ${CMAKE_CURRENT_SOURCE_DIR}/dsm/net/mpi.c -o ${module}
    DEPENDS dsm/net/mpi.c dsm/net/mpi.h dsm/net/pmi.h VERBATIM)
  list(APPEND dsm_modules ${module})
endforeach()
set(WEIR_DSM_MODULES ${dsm_modules} CACHE INTERNAL "What is installed beside libweir-dsm")
add_custom_target(weir_dsm_modules ALL DEPENDS ${dsm_modules})
add_dependencies(weir_dsm weir_dsm_modules)
add_subdirectory(dsm/predict)
add_subdirectory(dsm/commands)
