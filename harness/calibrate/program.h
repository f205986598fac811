// CalibrationProgram: a litmus program to be run on a real filesystem: a few calls on a few small
// files.
//
// `setup` is durable before anything is recorded; `main` is what crashes. A step is a line of a
// litmus file (docs/HACKING.md), in words:
//
//   create F | mkdir D | symlink TARGET F | link F NEW | unlink F | rmdir D | rename F NEW
//   write F TEXT [@OFFSET] [sync|dsync]     without an offset: append; with a flag: O_SYNC, O_DSYNC
//   store F TEXT @OFFSET                    into a shared mapping
//   truncate F SIZE | allocate F OFFSET LENGTH [keep] | punch F OFFSET LENGTH
//   chmod F MODE | copy F NEW | fsync F | fdatasync F | sync | close F
//   setxattr F KEY VALUE | tmpfile F         (O_TMPFILE; F to later steps; link F NEW names it)
//
// TEXT is runs of one byte, `a*4096,0*10`; the character 0 is the byte NUL. A file stays open until
// it is closed; a rename takes the open file along.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "harness/device/step.h"

namespace tornfs::harness {

struct CalibrationProgram {
  std::string name;
  std::vector<StepWords> setup;
  std::vector<StepWords> main;
  // Writes of data are torn at sectors, too; without it at pages of 4096 bytes.
  bool sectors = false;
};

// A litmus file; what it says of models is left to others. Errors: kInvalid.
[[nodiscard]] Result<CalibrationProgram> ParseLitmusSteps(std::string_view text,
                                                          std::string_view name);

// A JSON array of {"name", "setup", "main"} with steps as arrays of words and numbers, in the
// vocabulary of tests/data/real-fs-outcomes.json:
//
//   mk NAME [CH N]        create, write N bytes (4096) of CH (o), close
//   creat NAME            op NAME [FLAGS]            w NAME CH N [OFFSET]   without: at the end
//   close NAME            fsync NAME                 fdatasync NAME         fsyncdir [DIR]
//   ren FROM TO           link FROM TO               unl NAME               tr NAME SIZE
//   mkdir NAME            rmdir NAME                 chmod NAME MODE        mark WORD
//   setxattr NAME K V     posix_fallocate NAME OFFSET LENGTH
//
// Errors: kInvalid.
[[nodiscard]] Result<std::vector<CalibrationProgram>> ParseProgramsJson(std::string_view json);

// The programs of a file, by its ending .litmus or .json; of a folder, all of its litmus files in
// order of their names. Errors: kInvalid, kIo.
[[nodiscard]] Result<std::vector<CalibrationProgram>> ReadPrograms(const std::string& path);

}  // namespace tornfs::harness
