# TORNFS_SANITIZE: "", "address;undefined" or "thread"; set by the presets.
set(TORNFS_SANITIZE "" CACHE STRING "sanitizers to build with")
if(TORNFS_SANITIZE)
  string(REPLACE ";" "," sanitize_list "${TORNFS_SANITIZE}")
  add_compile_options(-fsanitize=${sanitize_list} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitize_list})
endif()
