# Interface targets that hold compiler flags; each target of Weir links the one that fits.

add_library(weir_warnings INTERFACE)
target_compile_options(weir_warnings INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Werror>)

# Code that runs inside somebody else's program: no libstdc++, nothing that allocates, throws or locks behind our back.
# Unwind tables stay: debuggers and the program's own unwinder walk through our frames.
add_library(weir_injected INTERFACE)
target_compile_features(weir_injected INTERFACE cxx_std_20)
target_include_directories(weir_injected INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(weir_injected INTERFACE _GNU_SOURCE)
target_compile_options(weir_injected INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-fvisibility=hidden -fno-stack-protector -fcf-protection=none -fno-strict-aliasing>
  # Most that is set to zero is some hundred bytes, for which the processor's own loop begins too slowly.
  $<$<COMPILE_LANGUAGE:C,CXX>:-mmemset-strategy=unrolled_loop:256:noalign,rep_8byte:-1:noalign>
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility-inlines-hidden>)

# A task enters the runtime in the middle of its own computation, so the runtime must leave vector registers alone.
# Files that need them say so by their name (*_vector_x86_64.cc); their callers save what they must.
# Files that define memcpy and its kin must not be turned into calls of themselves.
function(weir_source_flags)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "_vector_x86_64\\.cc$" OR source MATCHES "\\.S$")
      continue()
    endif()
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -mgeneral-regs-only)
    if(source MATCHES "/base/bytes")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fno-tree-loop-distribute-patterns -fno-builtin)
    endif()
  endforeach()
endfunction()

add_library(weir_sanitizers INTERFACE)
if(WEIR_SANITIZE STREQUAL "thread")
  target_compile_options(weir_sanitizers INTERFACE -fsanitize=thread -Wno-tsan)
  target_link_options(weir_sanitizers INTERFACE -fsanitize=thread)
elseif(WEIR_SANITIZE)
  # gcc 12 sees uninitialized variables in instrumented code of its own headers.
  target_compile_options(weir_sanitizers INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -Wno-maybe-uninitialized)
  target_link_options(weir_sanitizers INTERFACE -fsanitize=address,undefined)
endif()
