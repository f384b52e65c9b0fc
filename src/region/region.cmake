# --- libweir-region.so: stands alone, needs libc.so.6 and nothing else. Its own build of what it
#     shares with others: it may use vector registers.
file(GLOB region_sources CONFIGURE_DEPENDS region/*.cc)
list(APPEND region_sources ${CMAKE_CURRENT_SOURCE_DIR}/code/decode/decoder.cc ${CMAKE_CURRENT_SOURCE_DIR}/code/decode/gather.cc ${CMAKE_CURRENT_SOURCE_DIR}/sys/maps.cc
  ${CMAKE_CURRENT_SOURCE_DIR}/sys/report.cc)
list(FILTER region_sources EXCLUDE REGEX "_test\\.cc$")
add_library(weir_region SHARED ${region_sources})
set_target_properties(weir_region PROPERTIES OUTPUT_NAME weir-region LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION 0
  PUBLIC_HEADER "${PROJECT_SOURCE_DIR}/include/weir/region.h;${PROJECT_SOURCE_DIR}/include/weir/region.hpp")
target_link_libraries(weir_region PRIVATE weir_warnings weir_injected zydis -lgcc -lc -lgcc)
target_include_directories(weir_region INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_compile_definitions(weir_region PRIVATE WEIR_IN_REGION)
target_link_options(weir_region PRIVATE -nodefaultlibs -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,relro -Wl,-z,defs -Wl,--exclude-libs,ALL)

