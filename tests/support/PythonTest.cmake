find_package(Python3 REQUIRED COMPONENTS Interpreter)

# add_python_test(NAME SCRIPT LABEL SECONDS [ARGUMENT...]): a script that uses tests/support/tornfs.py
# and needs at most SECONDS on an idle machine.
function(add_python_test name script label timeout)
  tornfs_limit(${timeout} limit)
  add_test(NAME ${name}
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN})
  set_tests_properties(${name} PROPERTIES
    LABELS ${label}
    TIMEOUT ${limit}
    SKIP_RETURN_CODE 77
    ENVIRONMENT TORNFS_BIN=$<TARGET_FILE_DIR:tornfs>)
endfunction()
