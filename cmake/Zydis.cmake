# The instruction decoder: the source of Zydis (tools/sources, tools/fetch), without formatter and
# encoder and without libc, as a static library that can be linked into libweir.so.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/sources)
file(STRINGS ${PROJECT_SOURCE_DIR}/tools/sources line REGEX "^zydis ")
string(REGEX REPLACE "^zydis ([0-9.]+) .*" "\\1" version "${line}")
set(WEIR_ZYDIS_DIR "" CACHE PATH "Source of Zydis ${version}, instead of what tools/setup fetches")
set(folder ${WEIR_ZYDIS_DIR})
if(NOT folder)
  set(folder ${PROJECT_SOURCE_DIR}/.deps/zydis-${version})
endif()
if(NOT EXISTS ${folder}/src/Decoder.c)
  message(FATAL_ERROR "the source of Zydis is not in ${folder}: run tools/setup build first")
endif()
# ...MAJOR MINOR PATCH in four hexadecimal digits each.
file(STRINGS ${folder}/include/Zydis/Zydis.h line REGEX "define ZYDIS_VERSION .*0x[0-9A-F]+")
string(REGEX REPLACE ".*0x(....)(....)(....).*" "0x\\1;0x\\2;0x\\3" parts "${line}")
set(found)
foreach(part IN LISTS parts)
  math(EXPR part "${part}")
  list(APPEND found ${part})
endforeach()
list(JOIN found "." found)
if(NOT found STREQUAL version)
  message(FATAL_ERROR "${folder} has Zydis ${found}, and Weir is made for ${version}: run tools/setup build first")
endif()
find_path(WEIR_ZYCORE_INCLUDE Zycore/Types.h REQUIRED)

set(WEIR_ZYDIS_SOURCES Decoder DecoderData MetaInfo Mnemonic Register Segment SharedData Utils Zydis)
list(TRANSFORM WEIR_ZYDIS_SOURCES REPLACE "(.+)" "${folder}/src/\\1.c")

add_library(zydis STATIC ${WEIR_ZYDIS_SOURCES})
target_include_directories(zydis SYSTEM PUBLIC ${folder}/include ${WEIR_ZYCORE_INCLUDE})
target_include_directories(zydis PRIVATE ${folder}/src)
target_compile_definitions(zydis PUBLIC
  ZYAN_NO_LIBC ZYDIS_STATIC_BUILD ZYCORE_STATIC_BUILD ZYDIS_DISABLE_FORMATTER ZYDIS_DISABLE_ENCODER
  PRIVATE NDEBUG)
target_compile_options(zydis PRIVATE
  -fvisibility=hidden -fno-stack-protector -fcf-protection=none -mgeneral-regs-only ${WEIR_NO_LOOPS_TO_CALLS} -w)
set_target_properties(zydis PROPERTIES POSITION_INDEPENDENT_CODE ON)
