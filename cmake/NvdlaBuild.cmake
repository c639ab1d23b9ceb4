# SPDX-License-Identifier: MIT
#
# Compiler settings that all rooms share, and the functions by which rooms,
# tests and fuzzers are added.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Static libraries end up in libnvdla.so, which exports only what it marks.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(NVDLA_CCACHE ccache)
if(NVDLA_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${NVDLA_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${NVDLA_CCACHE}")
endif()

# Debian's, whatever else comes first in PATH.
set(NVDLA_PYTHON /usr/bin/python3)

# Files are compiled so many at once, in every preset but `alone` and `debug`: most of the
# time goes into the same templates again. `make run` and `make test` share what they
# compiled. Such files share a scope: names in anonymous namespaces must differ, but
# may hide each other, which -Wshadow cannot tell. `make test-all` compiles each
# file alone to see that it includes what it needs.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 6)

add_compile_options(-Wall -Wextra -Wvla
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
  $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>)
if(NOT CMAKE_UNITY_BUILD)
  add_compile_options(-Wshadow)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Rooms may quiet a warning that only gcc has.
  add_compile_options(-Wno-unknown-warning-option)
endif()
if(NVDLA_WERROR)
  add_compile_options(-Werror)
endif()

if(NVDLA_SANITIZE)
  add_compile_options(-fsanitize=${NVDLA_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${NVDLA_SANITIZE})
endif()
if(NVDLA_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "NVDLA_FUZZ needs clang; use the preset `asan`")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_package(Threads REQUIRED)

# Add rooms that are there; each has its own CMakeLists.txt.
function(nvdla_add_room)
  foreach(room IN LISTS ARGN)
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${room}/CMakeLists.txt")
      add_subdirectory(${room})
    endif()
  endforeach()
endfunction()

# nvdla_add_headers(ROOM [FOLDER path] [DIRECTORY path] [NEEDS room...]): the target
# nvdla_ROOM_headers, by which others include the headers of DIRECTORY, the current one without it,
# as "FOLDER/name.hpp", ROOM without it ("/" becomes "_" in names of targets).
#
# Nobody includes what they did not ask for: each room has a folder of links to its headers in the
# build directory, and that folder alone is searched.
function(nvdla_add_headers room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER;DIRECTORY" "NEEDS")
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${room})
  endif()
  set(from "${CMAKE_CURRENT_SOURCE_DIR}/${arg_DIRECTORY}")
  string(REPLACE "/" "_" name ${room})
  set(root "${PROJECT_BINARY_DIR}/rooms/${name}")
  file(GLOB headers RELATIVE "${from}" CONFIGURE_DEPENDS
    "${from}/*.h" "${from}/*.hpp" "${from}/*.ipp")
  file(REMOVE_RECURSE "${root}")
  file(MAKE_DIRECTORY "${root}/${arg_FOLDER}")
  foreach(header IN LISTS headers)
    file(CREATE_LINK "${from}/${header}" "${root}/${arg_FOLDER}/${header}"
      SYMBOLIC)
  endforeach()
  add_library(nvdla_${name}_headers INTERFACE)
  target_include_directories(nvdla_${name}_headers INTERFACE "${root}")
  foreach(need IN LISTS arg_NEEDS)
    string(REGEX REPLACE "_headers$" "" need ${need})
    string(REPLACE "/" "_" need ${need})
    target_link_libraries(nvdla_${name}_headers INTERFACE nvdla_${need}_headers)
  endforeach()
endfunction()

# nvdla_add_library(ROOM [SOURCES file...] [NEEDS room...] [LINKS target...])
#
# The folder's files as the library nvdla_ROOM. NEEDS are the rooms that it may include and links,
# LINKS what is not of this project. "ROOM_headers" among NEEDS: only what it defines in headers.
# ARCHITECTURE.md draws these arrows.
function(nvdla_add_library room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;NEEDS;LINKS")
  nvdla_add_headers(${room} NEEDS ${arg_NEEDS})
  string(REPLACE "/" "_" name ${room})
  set(scope PUBLIC)
  if(arg_SOURCES)
    add_library(nvdla_${name} STATIC ${arg_SOURCES})
    target_compile_features(nvdla_${name} PUBLIC cxx_std_20)
  else()
    set(scope INTERFACE)
    add_library(nvdla_${name} INTERFACE)
  endif()
  target_link_libraries(nvdla_${name} ${scope} nvdla_${name}_headers ${arg_LINKS})
  foreach(need IN LISTS arg_NEEDS)
    string(REPLACE "/" "_" need ${need})
    target_link_libraries(nvdla_${name} ${scope} nvdla_${need})
  endforeach()
endfunction()

# For targets full of templates of others (GoogleTest, CLI11, JSON). UBSan's
# checks of every pointer that is used double the time that these take to
# compile and find nothing that ASan or UBSan in the rooms' own code does not;
# and no fuzzer wants to know which way a test went.
function(nvdla_sanitize_lightly target)
  if(NVDLA_FUZZ)
    target_compile_options(${target} PRIVATE -fno-sanitize=fuzzer-no-link)
  endif()
  if(NVDLA_SANITIZE MATCHES undefined)
    target_compile_options(${target} PRIVATE
      -fno-sanitize=alignment,null,object-size,pointer-overflow,vptr)
  endif()
endfunction()

# For programs, whose time goes into libraries. The presets of the sanitizers ask for -O1, which
# takes what is full of templates twice as long to compile.
function(nvdla_compile_as_program target)
  nvdla_sanitize_lightly(${target})
  if(NVDLA_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# For libraries and programs full of templates of others (CLI11, JSON), none of which is hot.
function(nvdla_compile_as_command target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  nvdla_compile_as_program(${target})
endfunction()

# nvdla_configurations(VARIABLE): the names of all configurations, in their order.
function(nvdla_configurations variable)
  file(STRINGS "${PROJECT_SOURCE_DIR}/firmware/nvdla_hw.c" names REGEX "\\.name = ")
  list(TRANSFORM names REPLACE ".*\"(.*)\".*" "\\1")
  set(${variable} "${names}" PARENT_SCOPE)
endfunction()

# For tests and what they are made of. Quicker to compile; and at -O3 gcc 12 warns
# of what it does not understand inside std::vector.
function(nvdla_compile_as_test target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  nvdla_sanitize_lightly(${target})
endfunction()

# Sets `out` to the room whose tests the current folder has: its own name, but for these.
function(nvdla_room_of_tests out)
  set(room_of_compile firmware)
  set(room_of_engine firmware)
  set(room_of_registers firmware)
  set(room_of_bare backend)
  set(room_of_requests compiler)
  set(room_of_mmio backend)
  set(room_of_dt tools)
  set(room_of_program tools)
  set(room_of_fuzz tools)
  set(room_of_lift tools)
  set(room_of_traces tools)
  set(room_of_compare model)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  if(DEFINED room_of_${folder})
    set(folder ${room_of_${folder}})
  endif()
  set(${out} ${folder} PARENT_SCOPE)
endfunction()

# Sets `out` to the label of this folder's tests, by which .ci/affected.py chooses them.
function(nvdla_label_of_tests out)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/tests"
    OUTPUT_VARIABLE folder)
  set(${out} "tests:${folder}" PARENT_SCOPE)
endfunction()

# To be called first by folders that call add_test(): gives their tests that label in the end.
function(nvdla_tests_run_programs)
  cmake_language(DEFER CALL nvdla_label_tests)
endfunction()
function(nvdla_label_tests)
  nvdla_label_of_tests(label)
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(test IN LISTS tests)
    get_property(labels TEST "${test}" PROPERTY LABELS)
    if(NOT labels MATCHES "tests:")
      set_property(TEST "${test}" APPEND PROPERTY LABELS "${label}")
    endif()
  endforeach()
endfunction()

# nvdla_label_arithmetic(TEST...): the tests compare results of layers and networks that they make
# themselves. AddressSanitizer multiplies their time, and what reaches the same code from outside,
# programs, files and registers, has tests of its own: they run under it in `make test-all` alone.
function(nvdla_label_arithmetic)
  set(labels arithmetic)
  if(NVDLA_SANITIZE MATCHES address)
    list(APPEND labels slow)
  endif()
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS ${labels})
endfunction()

# nvdla_build_for_slow_tests(TARGET...): with a sanitizer, which takes its time to compile, `all`
# has nothing that only slow tests run; the target slow_tests builds it.
function(nvdla_build_for_slow_tests)
  set_property(GLOBAL APPEND PROPERTY NVDLA_SLOW_TESTS ${ARGN})
  if(NVDLA_SANITIZE)
    set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
endfunction()

# nvdla_add_test(NAME SOURCES file... LIBRARIES target... LABELS label...)
#
# A GoogleTest executable. gtest is heavy on compile time: one executable for a room rather
# than one for a file. NVDLA_SOURCE_DIR is defined for tests that read files of the tree.
#
# A process takes longer to start than most tests take to run: ctest knows a few parts of the
# executable, NAME.1 and on, and what each test in them did is in gtest/NAME.1.xml of the
# build directory. `GTEST_FILTER=Suite.* ctest -R NAME` runs some of its tests.
#
# Labels: unit, conformance, threads (also run under TSan), arm64 (also run for that
# architecture, under qemu-user), arithmetic (nvdla_label_arithmetic()), slow (only run by
# `make test-all`). Without LABELS: unit. Each has the labels room:NAME and tests:FOLDER besides,
# and the target check-NAME builds it.
function(nvdla_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES;LABELS")
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if("arithmetic" IN_LIST arg_LABELS AND NVDLA_SANITIZE MATCHES address)
    list(APPEND arg_LABELS slow)
  endif()
  nvdla_room_of_tests(room)
  if(NOT "slow" IN_LIST arg_LABELS)
    set_property(GLOBAL APPEND PROPERTY NVDLA_TESTS_OF_${room} ${name})
    set_property(GLOBAL APPEND PROPERTY NVDLA_TESTED_ROOMS ${room})
  endif()
  nvdla_label_of_tests(label)
  list(APPEND arg_LABELS room:${room} ${label})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    NVDLA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  nvdla_compile_as_test(${name})
  # The presets of the sanitizers ask for -O1, which takes a test longer to
  # compile than it saves.
  if(NVDLA_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  if("slow" IN_LIST arg_LABELS)
    nvdla_build_for_slow_tests(${name})
  endif()
  if("threads" IN_LIST arg_LABELS)
    set_property(GLOBAL APPEND PROPERTY NVDLA_THREAD_TESTS ${name})
  endif()
  if("arm64" IN_LIST arg_LABELS)
    set_property(GLOBAL APPEND PROPERTY NVDLA_ARM64_TESTS ${name})
  endif()
  foreach(part RANGE 1 4)
    math(EXPR index "${part} - 1")
    add_test(NAME ${name}.${part} COMMAND ${name} --gtest_brief=1
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set(environment GTEST_TOTAL_SHARDS=4 GTEST_SHARD_INDEX=${index}
      "GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/gtest/${name}.${part}.xml")
    if(NVDLA_THOROUGH)
      list(APPEND environment NVDLA_LAYERS=all)
    endif()
    set_tests_properties(${name}.${part} PROPERTIES
      LABELS "${arg_LABELS}" TIMEOUT 900 ENVIRONMENT "${environment}")
  endforeach()
endfunction()

# nvdla_add_fuzzer(NAME SOURCES file... CORPUS_DIR dir [LIBRARIES target...])
#
# A libFuzzer target, LLVMFuzzerTestOneInput() in SOURCES. As a test it replays
# the kept corpus; with NVDLA_FUZZ another test starts there and goes on for
# NVDLA_FUZZ_SECONDS. What is found new lies in fuzz/NAME of the build
# directory, what fails beside it as NAME-crash-*.
function(nvdla_add_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS_DIR" "SOURCES;LIBRARIES")
  get_filename_component(corpus "${arg_CORPUS_DIR}" ABSOLUTE)
  if(NOT IS_DIRECTORY "${corpus}")
    message(FATAL_ERROR "fuzzer ${name}: no corpus ${corpus}")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  if(NVDLA_FUZZ)
    set_property(GLOBAL APPEND PROPERTY NVDLA_FUZZERS ${name})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set(found "${PROJECT_BINARY_DIR}/fuzz/${name}")
    file(MAKE_DIRECTORY "${found}")
    math(EXPR timeout "${NVDLA_FUZZ_SECONDS} * 2 + 120")
    add_test(NAME ${name}.fuzz COMMAND ${name}
      -max_total_time=${NVDLA_FUZZ_SECONDS} -timeout=20 -print_final_stats=1
      -artifact_prefix=${found}- "${found}" "${corpus}")
    set_tests_properties(${name}.fuzz PROPERTIES LABELS fuzz TIMEOUT ${timeout})
    add_test(NAME ${name}.corpus COMMAND ${name} -runs=0 "${corpus}")
  else()
    target_sources(${name} PRIVATE
      "${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cpp")
    add_test(NAME ${name}.corpus COMMAND ${name} "${corpus}")
  endif()
  set_tests_properties(${name}.corpus PROPERTIES LABELS unit TIMEOUT 900)
endfunction()

# Targets that the Makefile and the stages build: `product` is what a user
# wants (all that the README shows), `first_steps` what `make run` builds, `thread_tests` what TSan runs, `arm64_tests` what
# qemu-user runs, `fuzzers` what libFuzzer runs, `slow_tests` what only `make test-all` runs,
# `check-NAME` the tests of a room.
function(nvdla_add_collections)
  get_property(thread_tests GLOBAL PROPERTY NVDLA_THREAD_TESTS)
  get_property(arm64_tests GLOBAL PROPERTY NVDLA_ARM64_TESTS)
  get_property(fuzzers GLOBAL PROPERTY NVDLA_FUZZERS)
  get_property(slow_tests GLOBAL PROPERTY NVDLA_SLOW_TESTS)
  get_property(references GLOBAL PROPERTY NVDLA_REFERENCES)
  set(product nvdla nvdla_static nvdla_importer nvdla-cli nvdla-device-server activation convolution digits
    digits_onnx digits_loadables network ${references})
  set(first_steps digits digits_onnx nvdla-cli convolution)
  foreach(collection product first_steps thread_tests arm64_tests fuzzers slow_tests)
    add_custom_target(${collection})
    foreach(target IN LISTS ${collection})
      if(TARGET ${target})
        add_dependencies(${collection} ${target})
      endif()
    endforeach()
  endforeach()
  get_property(rooms GLOBAL PROPERTY NVDLA_TESTED_ROOMS)
  list(REMOVE_DUPLICATES rooms)
  list(SORT rooms)
  foreach(room IN LISTS rooms)
    get_property(tests GLOBAL PROPERTY NVDLA_TESTS_OF_${room})
    add_custom_target(check-${room} DEPENDS ${tests})
  endforeach()
  list(JOIN rooms "\n" rooms)
  file(WRITE "${PROJECT_BINARY_DIR}/rooms.txt" "${rooms}\n")
endfunction()
