# Target `man`: manual pages in build/PRESET/man, written from --help. Needs help2man.
add_custom_target(man
  COMMAND ${PROJECT_SOURCE_DIR}/cmake/man.sh
    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_BINARY_DIR}/man ${PROJECT_VERSION}
  DEPENDS tornfs journal
  VERBATIM)
