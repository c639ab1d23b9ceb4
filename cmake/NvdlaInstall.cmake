# SPDX-License-Identifier: MIT
#
# What the library is called, exports and how it is found once installed: by
# find_package(nvdla) as nvdla::nvdla or nvdla::nvdla_static, by pkg-config as
# libnvdla, with --static too; libnvdla-sim for simulators, by pkg-config; nvdla::nvdla-import and
# libnvdla-import where models of ONNX can be imported. And all
# else that is installed, in components as Debian's packages have them: library, import,
# development, tools, licences; guides and
# examples, which Debian's packages leave out.
include(CMakePackageConfigHelpers)

# SOVERSION stays 0 until 1.0.
set(map "${PROJECT_SOURCE_DIR}/cmake/libnvdla.map")
set_target_properties(nvdla PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS "${map}")
target_link_options(nvdla PRIVATE "-Wl,--version-script=${map}")
set_target_properties(nvdla_static PROPERTIES OUTPUT_NAME nvdla)
foreach(library nvdla nvdla_static)
  target_compile_features(${library} INTERFACE cxx_std_20)
  target_include_directories(${library} INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>"
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/uapi>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
endforeach()

install(TARGETS nvdla nvdla_static EXPORT nvdlaTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
# The importer of models, which needs protobuf, beside it.
set(packages libnvdla libnvdla-sim)
set(no_header PATTERN "import.hpp" EXCLUDE)
if(NVDLA_ONNX)
  set(no_header)
  list(APPEND packages libnvdla-import)
  set_target_properties(nvdla_importer PROPERTIES
    OUTPUT_NAME nvdla-import
    EXPORT_NAME nvdla-import
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}
    LINK_DEPENDS "${map}")
  # Nothing of libnvdla but what it exports; sanitizers leave their own functions to the program.
  target_link_options(nvdla_importer PRIVATE "-Wl,--version-script=${map}")
  if(NOT NVDLA_SANITIZE)
    target_link_options(nvdla_importer PRIVATE "-Wl,--no-undefined")
  endif()
  install(TARGETS nvdla_importer EXPORT nvdlaTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
      COMPONENT import NAMELINK_COMPONENT development)
endif()
# For simulators; nothing of libnvdla is in it.
install(TARGETS nvdla_sim ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(FILES "${PROJECT_SOURCE_DIR}/runtime/sim/nvdla_sim.h"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime/include/nvdla"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.hpp" ${no_header})
install(FILES "${PROJECT_SOURCE_DIR}/uapi/drm/nvdla_accel.h"
  "${PROJECT_SOURCE_DIR}/uapi/drm/nvdla_layer.h"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/drm COMPONENT development)
# Of what is installed: the library is MIT, the contract's headers are dual.
install(FILES "${PROJECT_SOURCE_DIR}/LICENSES/MIT" "${PROJECT_SOURCE_DIR}/LICENSES/GPL-2.0"
  "${PROJECT_SOURCE_DIR}/LICENSES/Linux-syscall-note"
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/LICENSES COMPONENT licences)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT licences)
# Guides name each other by their places in the tree, which they keep here.
file(GLOB guides "${PROJECT_SOURCE_DIR}/docs/*.md")
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/ARCHITECTURE.md"
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT guides)
install(FILES ${guides} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT guides)
install(FILES "${PROJECT_SOURCE_DIR}/runtime/examples/convolution/convolution.cpp"
  "${PROJECT_SOURCE_DIR}/runtime/sim/example/verilator_harness.cpp"
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT examples)

# nvdla_install_program(TARGET NAME): a program with its manual page and completions, which it
# prints itself; so they are left out where it cannot be run.
function(nvdla_install_program target name)
  install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  if(CMAKE_CROSSCOMPILING OR NVDLA_SANITIZE)
    return()
  endif()
  set(folder "${PROJECT_BINARY_DIR}/reference")
  set(man "${folder}/${name}.1" "${CMAKE_INSTALL_MANDIR}/man1")
  set(bash "${folder}/${name}" "${NVDLA_COMPLETIONS_BASH}")
  set(fish "${folder}/${name}.fish" "${NVDLA_COMPLETIONS_FISH}")
  set(zsh "${folder}/_${name}" "${NVDLA_COMPLETIONS_ZSH}")
  set(files)
  foreach(form man bash fish zsh)
    list(GET ${form} 0 file)
    list(GET ${form} 1 destination)
    add_custom_command(OUTPUT "${file}"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}"
      COMMAND ${target} --reference ${form} > "${file}.part"
      COMMAND ${CMAKE_COMMAND} -E rename "${file}.part" "${file}"
      DEPENDS ${target} VERBATIM)
    install(FILES "${file}" DESTINATION "${destination}" COMPONENT tools)
    list(APPEND files "${file}")
  endforeach()
  add_custom_target(${target}_reference ALL DEPENDS ${files})
  set_property(GLOBAL APPEND PROPERTY NVDLA_REFERENCES ${target}_reference)
endfunction()

set(NVDLA_COMPLETIONS_BASH "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" CACHE STRING
  "Where bash looks for completions")
set(NVDLA_COMPLETIONS_FISH "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" CACHE STRING
  "Where fish looks for completions")
set(NVDLA_COMPLETIONS_ZSH "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" CACHE STRING
  "Where zsh looks for completions")
if(NVDLA_TOOLS)
  nvdla_install_program(nvdla-cli nvdla)
  nvdla_install_program(nvdla-device-server nvdla-device-server)
  # udev reads it below /usr and /usr/local.
  install(FILES "${PROJECT_SOURCE_DIR}/kernel/60-nvdla.rules" DESTINATION lib/udev/rules.d
    COMPONENT tools)
  # The command finds the library beside itself, wherever the prefix is moved.
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(nvdla-cli PROPERTIES INSTALL_RPATH "$ORIGIN/${up}")
endif()

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/nvdla")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/nvdlaConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/nvdlaConfig.cmake" INSTALL_DESTINATION ${package})
# Before 1.0 a new minor version may break its users.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/nvdlaConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(EXPORT nvdlaTargets NAMESPACE nvdla:: DESTINATION ${package} COMPONENT development)
install(FILES "${PROJECT_BINARY_DIR}/package/nvdlaConfig.cmake"
  "${PROJECT_BINARY_DIR}/package/nvdlaConfigVersion.cmake"
  DESTINATION ${package} COMPONENT development)

# pkg-config takes the prefix from where it finds the file, so that a tree that
# was moved still works; absolute directories stay as they are.
foreach(kind LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
    set(NVDLA_PC_${kind} "${CMAKE_INSTALL_${kind}}")
  else()
    set(NVDLA_PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
  endif()
endforeach()
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(NVDLA_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(NVDLA_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(package IN LISTS packages)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in"
    "${PROJECT_BINARY_DIR}/package/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/package/${package}.pc"
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()
