# tornfs_warnings: what every target of ours is compiled with. Warnings are errors.
add_library(tornfs_warnings INTERFACE)
target_compile_options(tornfs_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
# The checks of sanitizers make g++ see uninitialized members that are none (in std::regex, for one).
if(TORNFS_SANITIZE)
  target_compile_options(tornfs_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
# g++ 12 sees overlaps in std::string's operator+ that are not there (GCC bug 105651, fixed in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tornfs_warnings INTERFACE -Wno-restrict)
endif()
