// The few calls on files that the workloads share. They know nothing of where they run: a failing
// call ends the program with its name and errno, as a small tool would.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace workloads {

// Ends the program with status 2, "NAME: what: strerror(errno)".
[[noreturn]] void Die(const std::string& what);

// Opens, or dies. The descriptor is the caller's to Close.
[[nodiscard]] int Open(const std::string& path, int flags);
void Write(int fd, std::string_view bytes);
void Sync(int fd);
void Close(int fd);

// Makes the names in the working directory durable.
void SyncDirectory();

// The whole file. False if there is none.
[[nodiscard]] bool Read(const std::string& path, std::string& content);

// The highest N of the lines "WORD N" in the file `promises`; 0 if there is none.
[[nodiscard]] std::uint64_t HighestPromise(const std::string& promises, std::string_view word);

// Prints "WORD N" and does not return before the line has left the program.
void Promise(std::string_view word, std::uint64_t number);

// A decimal number above zero, or 0.
[[nodiscard]] std::uint64_t NumberOf(std::string_view text);

}  // namespace workloads
