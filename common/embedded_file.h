// EmbeddedFile: the text of a file that is part of the program (cmake/Embed.cmake).
#pragma once

#include <string_view>

namespace tornfs {

struct EmbeddedFile {
  std::string_view name;  // Without the folder.
  std::string_view text;
};

}  // namespace tornfs
