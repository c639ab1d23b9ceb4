# SPDX-License-Identifier: MIT
#
# Programs for arm64, by Debian's cross compiler, with the headers and libraries that
# tests/emulator/get-arm64.sh unpacks: for a guest, and for tests under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(root "${CMAKE_CURRENT_LIST_DIR}/../build/arm64/root")
if(NOT EXISTS "${root}/packages")
  message(FATAL_ERROR "No libraries for arm64: run tests/emulator/get-arm64.sh build/arm64")
endif()
set(libraries "${root}/usr/lib/aarch64-linux-gnu")
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH "${root}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# The compiler has a C library of its own, so this is no --sysroot.
set(CMAKE_C_FLAGS_INIT
  "-isystem ${root}/usr/include -isystem ${root}/usr/include/aarch64-linux-gnu")
set(CMAKE_CXX_FLAGS_INIT "${CMAKE_C_FLAGS_INIT}")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT
    "-L${libraries} -Wl,-rpath-link,${libraries}:${root}/lib/aarch64-linux-gnu")
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} "${libraries}/pkgconfig:${root}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${root}")
# Other processors than the best there is: QEMU_CPU in the environment.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu
  -E "LD_LIBRARY_PATH=${libraries}:${root}/lib/aarch64-linux-gnu")
