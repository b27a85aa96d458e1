# SPDX-License-Identifier: MIT
#
# For find_package(allocbench-heaps CONFIG): the targets allocbench::heaps, the shared library, and
# allocbench::heaps_static, with the folder of their headers. C11 or C++17.
#
#     find_package(allocbench-heaps CONFIG REQUIRED)
#     target_link_libraries(game PRIVATE allocbench::heaps)
#
# `make install` writes the path to the headers, relative to the library, and the version.

include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)

get_filename_component(_ab_lib "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
get_filename_component(_ab_include "${_ab_lib}/@INCLUDE@" ABSOLUTE)

if(NOT TARGET allocbench::heaps AND EXISTS "${_ab_lib}/liballocbench-heaps.so.0")
  add_library(allocbench::heaps SHARED IMPORTED)
  set_target_properties(allocbench::heaps PROPERTIES
    IMPORTED_LOCATION "${_ab_lib}/liballocbench-heaps.so.0"
    IMPORTED_SONAME "liballocbench-heaps.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_ab_include}"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
if(NOT TARGET allocbench::heaps_static AND EXISTS "${_ab_lib}/liballocbench-heaps.a")
  add_library(allocbench::heaps_static STATIC IMPORTED)
  set_target_properties(allocbench::heaps_static PROPERTIES
    IMPORTED_LOCATION "${_ab_lib}/liballocbench-heaps.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_ab_include}"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
if(NOT TARGET allocbench::heaps AND NOT TARGET allocbench::heaps_static)
  set(allocbench-heaps_FOUND FALSE)
  set(allocbench-heaps_NOT_FOUND_MESSAGE "no liballocbench-heaps.so.0 or .a in ${_ab_lib}")
endif()
unset(_ab_lib)
unset(_ab_include)
