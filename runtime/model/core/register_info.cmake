# SPDX-License-Identifier: MIT
#
# Register tables and decoder, for include() by whoever needs them: the model,
# the tools and the tests.  Depends on nothing but the generated table.
if(NOT TARGET nvdla_register_info)
  get_filename_component(_nvdla_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  add_library(nvdla_register_info STATIC
    "${CMAKE_CURRENT_LIST_DIR}/register_info.cpp"
    "${CMAKE_CURRENT_LIST_DIR}/register_info.hpp")
  target_compile_features(nvdla_register_info PUBLIC cxx_std_20)
  # Root for "firmware/...", runtime for "model/...".
  target_include_directories(nvdla_register_info PUBLIC
    "${_nvdla_root}" "${_nvdla_root}/runtime")
  # It ends up in the shared library.
  set_target_properties(nvdla_register_info PROPERTIES POSITION_INDEPENDENT_CODE ON)
  unset(_nvdla_root)
endif()
