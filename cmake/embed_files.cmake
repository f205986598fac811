# Writes OUTPUT: a source file with the texts of FILES as a table. Called by tornfs_embed.
set(rows "")
set(count 0)
foreach(path IN LISTS FILES)
  file(READ ${path} text)
  get_filename_component(name ${path} NAME)
  string(APPEND rows "    {\"${name}\", R\"~~~~(${text})~~~~\"},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include <array>

#include \"${HEADER}\"

namespace tornfs {
namespace {
constexpr std::array<EmbeddedFile, ${count}> kFiles{{
${rows}}};
}  // namespace

std::span<const EmbeddedFile> ${FUNCTION}() { return kFiles; }

}  // namespace tornfs
")
