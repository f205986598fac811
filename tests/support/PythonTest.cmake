find_package(Python3 REQUIRED COMPONENTS Interpreter)

# add_python_test(NAME SCRIPT LABEL TIMEOUT [ARGUMENT...]): a script that uses tests/support/tornfs.py.
function(add_python_test name script label timeout)
  add_test(NAME ${name}
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN})
  set_tests_properties(${name} PROPERTIES
    LABELS ${label}
    TIMEOUT ${timeout}
    SKIP_RETURN_CODE 77
    ENVIRONMENT TORNFS_BIN=$<TARGET_FILE_DIR:tornfs>)
endfunction()
