# call_names.inc: a line for each system call that the kernel's headers number, in WEIR_GENERATED.
set(WEIR_GENERATED ${PROJECT_BINARY_DIR}/generated)
file(WRITE ${WEIR_GENERATED}/calls.c "#include <asm/unistd.h>\n")
execute_process(COMMAND ${CMAKE_C_COMPILER} -dM -E ${WEIR_GENERATED}/calls.c
  OUTPUT_VARIABLE definitions RESULT_VARIABLE status)
string(REGEX MATCHALL "#define __NR_[a-z0-9_]+ [0-9]+" definitions "${definitions}")
if(NOT status EQUAL 0 OR NOT definitions)
  message(FATAL_ERROR "the kernel's headers number no system call (libc6-dev, linux-libc-dev)")
endif()
list(TRANSFORM definitions REPLACE "#define __NR_([a-z0-9_]+) ([0-9]+)" "    Name{\\2, \"\\1\"},\n" OUTPUT_VARIABLE names)
list(JOIN names "" names)
file(CONFIGURE OUTPUT ${WEIR_GENERATED}/call_names.inc CONTENT "${names}" @ONLY)
