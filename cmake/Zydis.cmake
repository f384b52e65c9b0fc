# The instruction decoder: Debian's source of Zydis (fetched by tools/setup), without formatter and encoder and without libc,
# as a static library that can be linked into libweir.so.
set(WEIR_ZYDIS_DIR ${PROJECT_SOURCE_DIR}/.deps/zydis-4.0.0 CACHE PATH "Source of Zydis 4")
if(NOT EXISTS ${WEIR_ZYDIS_DIR}/src/Decoder.c)
  message(FATAL_ERROR "the source of Zydis is not in ${WEIR_ZYDIS_DIR}: run tools/setup first")
endif()
find_path(WEIR_ZYCORE_INCLUDE Zycore/Types.h REQUIRED)

set(WEIR_ZYDIS_SOURCES Decoder DecoderData MetaInfo Mnemonic Register Segment SharedData Utils Zydis)
list(TRANSFORM WEIR_ZYDIS_SOURCES REPLACE "(.+)" "${WEIR_ZYDIS_DIR}/src/\\1.c")

add_library(zydis STATIC ${WEIR_ZYDIS_SOURCES})
target_include_directories(zydis SYSTEM PUBLIC ${WEIR_ZYDIS_DIR}/include ${WEIR_ZYCORE_INCLUDE})
target_include_directories(zydis PRIVATE ${WEIR_ZYDIS_DIR}/src)
target_compile_definitions(zydis PUBLIC
  ZYAN_NO_LIBC ZYDIS_STATIC_BUILD ZYCORE_STATIC_BUILD ZYDIS_DISABLE_FORMATTER ZYDIS_DISABLE_ENCODER
  PRIVATE NDEBUG)
target_compile_options(zydis PRIVATE
  -fvisibility=hidden -fno-stack-protector -fcf-protection=none -mgeneral-regs-only -fno-tree-loop-distribute-patterns -w)
set_target_properties(zydis PROPERTIES POSITION_INDEPENDENT_CODE ON)
