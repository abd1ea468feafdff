# The one list of warnings. Presets turn them into errors.
set(ERRAND_WARNINGS
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wformat=2 -Wundef -Wvla
    -Wwrite-strings -Wcast-qual -Wcast-align -Wpointer-arith -Wstrict-prototypes
    -Wold-style-definition -Wmissing-prototypes -Wmissing-declarations -Wredundant-decls
    -Wnested-externs -Wimplicit-fallthrough -Wswitch-enum -Wdouble-promotion -Wfloat-equal
    -Wnull-dereference)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND ERRAND_WARNINGS -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wrestrict
         -Walloca -Wjump-misses-init)
else()
    list(APPEND ERRAND_WARNINGS -Wcomma -Wunreachable-code-aggressive -Wassign-enum
         -Wconditional-uninitialized)
endif()
add_compile_options(${ERRAND_WARNINGS})
