# Interface targets that hold compiler flags; each target of Weir links the one that fits.

# What only one of the compilers knows, or needs (docs/guide/install.md).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
  set(WEIR_GENERAL_REGISTERS -mgeneral-regs-only)
  # Most that is set to zero is some hundred bytes, for which the processor's own loop begins too
  # slowly.
  set(WEIR_INJECTED_MORE -mmemset-strategy=unrolled_loop:256:noalign,rep_8byte:-1:noalign)
  set(WEIR_NO_LOOPS_TO_CALLS -fno-tree-loop-distribute-patterns)
  set(WEIR_WARNINGS_MORE)
  set(WEIR_HIDDEN_NEW)
  set(WEIR_TSAN_MORE -Wno-tsan)
  # gcc sees uninitialized variables in instrumented code of its own headers.
  set(WEIR_ASAN_MORE -Wno-maybe-uninitialized)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 14)
  # Its -mgeneral-regs-only forbids long double too, also in functions of libstdc++'s headers that
  # nobody calls.
  set(WEIR_GENERAL_REGISTERS -mno-sse -mno-mmx)
  # Without it, a memcmp whose sign nobody asks for becomes a bcmp, which base/bytes.cc does not
  # have.
  set(WEIR_INJECTED_MORE -fno-builtin-bcmp)
  set(WEIR_NO_LOOPS_TO_CALLS -fno-builtin)
  # Algorithms of libstdc++ use a buffer that libstdc++ deprecates. clang says so of whoever calls
  # them. gcc is content with an attribute.
  set(WEIR_HIDDEN_NEW -fvisibility-global-new-delete-hidden)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 18)
    set(WEIR_HIDDEN_NEW -fvisibility-global-new-delete=force-hidden)
  endif()
  set(WEIR_WARNINGS_MORE $<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
  set(WEIR_TSAN_MORE)
  set(WEIR_ASAN_MORE)
else()
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}: "
    "Weir needs gcc 12 or later, or clang 14 or later (-DCMAKE_C_COMPILER=... -DCMAKE_CXX_COMPILER=...)")
endif()

add_library(weir_warnings INTERFACE)
target_compile_options(weir_warnings INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Werror> ${WEIR_WARNINGS_MORE})

# Code that runs inside somebody else's program: no libstdc++, nothing that allocates, throws or
# locks behind our back. Unwind tables stay: debuggers and the program's own unwinder walk through
# our frames.
add_library(weir_injected INTERFACE)
target_compile_features(weir_injected INTERFACE cxx_std_20)
target_include_directories(weir_injected INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(weir_injected INTERFACE _GNU_SOURCE $<$<BOOL:${WEIR_DEBUG_CHECKS}>:WEIR_DEBUG_CHECKS>)
target_compile_options(weir_injected INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-fvisibility=hidden -fno-stack-protector -fcf-protection=none -fno-strict-aliasing>
  $<$<COMPILE_LANGUAGE:C,CXX>:${WEIR_INJECTED_MORE}>
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility-inlines-hidden>)

# A task enters the runtime in the middle of its own computation, so the runtime must leave vector
# registers alone. Files that need them say so by their name (*_vector_x86_64.cc); their callers
# save what they must. Files that define memcpy and its kin must not be turned into calls of
# themselves.
function(weir_source_flags)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "_vector_x86_64\\.cc$" OR source MATCHES "\\.S$")
      continue()
    endif()
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${WEIR_GENERAL_REGISTERS})
    if(source MATCHES "/base/bytes")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${WEIR_NO_LOOPS_TO_CALLS} -fno-builtin)
    endif()
  endforeach()
endfunction()

add_library(weir_sanitizers INTERFACE)
if(WEIR_SANITIZE STREQUAL "thread")
  target_compile_options(weir_sanitizers INTERFACE -fsanitize=thread ${WEIR_TSAN_MORE})
  target_link_options(weir_sanitizers INTERFACE -fsanitize=thread)
elseif(WEIR_SANITIZE)
  target_compile_options(weir_sanitizers INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined ${WEIR_ASAN_MORE})
  target_link_options(weir_sanitizers INTERFACE -fsanitize=address,undefined)
endif()
