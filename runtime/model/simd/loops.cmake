# SPDX-License-Identifier: MIT
#
# nvdla_add_loops(ROOM [ALL file...] [X86 file...] [AMX file...] [ARM64 file...] [NEEDS room...])
#
# A library of loops for instruction sets. Each file is a translation unit of its own, whose flags
# follow from the set that its name begins with; nothing else may be compiled with them. Loops are
# vectorised whatever the build type says, because a debug build runs whole networks too.

set(NVDLA_X86 "^(x86_64|AMD64|i[3-6]86)$")
# As NVDLA_KERNELS names them, for tests that run with each; of these, the sets that tests emulate.
set(sets portable)
set(emulated)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "${NVDLA_X86}")
  list(APPEND sets avx2 avxvnni avx512)
  list(APPEND emulated avxvnni)
  # Tiles are there in 64 bits alone.
  if(CMAKE_SIZEOF_VOID_P EQUAL 8)
    list(APPEND sets amx)
    list(APPEND emulated amx)
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  list(APPEND sets neon neondot)
endif()
set_property(GLOBAL PROPERTY NVDLA_KERNEL_SETS ${sets})
set_property(GLOBAL PROPERTY NVDLA_EMULATED_SETS ${emulated})

set(avx512 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mprefer-vector-width=512)
# g++ 12 warns of its own header.
set(quiet -Wno-maybe-uninitialized -Wno-uninitialized)
# Loads that g++ moves up would take the registers that sums are in.
set(sums $<$<CXX_COMPILER_ID:GNU>:-fno-schedule-insns>)
set(exact -fno-trapping-math -fno-math-errno -ffp-contract=off)

set(NVDLA_FLAGS_portable -O3)
set(NVDLA_FLAGS_avx2 -O3 -mavx2 -mfma)
set(NVDLA_FLAGS_avxvnni -O3 -mavx2 -mavxvnni)
set(NVDLA_FLAGS_avx512 -O3 ${quiet} ${avx512} -mavx512vnni)
set(NVDLA_FLAGS_avx512vbmi ${NVDLA_FLAGS_avx512} -mavx512vbmi -mpopcnt)
set(NVDLA_FLAGS_amx -O3 ${quiet} ${avx512} -mamx-tile -mamx-int8)
set(NVDLA_FLAGS_neon -O3)
set(NVDLA_FLAGS_neon_depthwise -O3 ${sums})
set(NVDLA_FLAGS_neon_float -O3 ${sums})
set(NVDLA_FLAGS_neon_mac -O3 ${sums})
set(NVDLA_FLAGS_neon_wide -O3 ${sums})
set(NVDLA_FLAGS_neon_dot_mac -O3 ${sums} -march=armv8.2-a+dotprod)
set(NVDLA_FLAGS_unit_portable -O3 ${exact})
set(NVDLA_FLAGS_unit_avx2 -O3 ${exact} -mavx2 -mfma -mf16c)
set(NVDLA_FLAGS_unit_avx512 -O3 ${exact} ${quiet} ${avx512})
set(NVDLA_FLAGS_unit_neon -O3 ${exact})

function(nvdla_add_loops room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALL;X86;AMX;ARM64;NEEDS")
  set(sources ${arg_ALL})
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "${NVDLA_X86}")
    list(APPEND sources ${arg_X86})
    if(CMAKE_SIZEOF_VOID_P EQUAL 8)
      list(APPEND sources ${arg_AMX})
    endif()
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    list(APPEND sources ${arg_ARM64})
  endif()
  nvdla_add_library(${room} SOURCES ${sources} NEEDS ${arg_NEEDS})
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    # The longest name that has flags: that of the file, else the set's.
    set(set ${name})
    while(NOT DEFINED NVDLA_FLAGS_${set} AND set MATCHES "_")
      string(REGEX REPLACE "_[^_]*$" "" set ${set})
    endwhile()
    if(DEFINED NVDLA_FLAGS_${set})
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${NVDLA_FLAGS_${set}}")
    endif()
  endforeach()
endfunction()
