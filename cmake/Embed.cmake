# tornfs_embed(TARGET FUNCTION HEADER FILE...): makes the texts of the files part of TARGET.
# HEADER declares `std::span<const tornfs::EmbeddedFile> tornfs::FUNCTION()`, sorted by name.
function(tornfs_embed target function header)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cc)
  set(files ${ARGN})
  list(SORT files)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${function} -DHEADER=${header}
      "-DFILES=${files}" -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
