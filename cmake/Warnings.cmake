# tornfs_warnings: what every target of ours is compiled with. Warnings are errors.
add_library(tornfs_warnings INTERFACE)
target_compile_options(tornfs_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
