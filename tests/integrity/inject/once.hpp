// One bit in the memory of a program that goes on: what the check of any program can be tried with.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace inject {

// After so many seconds flips one bit, blindly, in the writable memory of the process or one of its children,
// and watches for so many whether that byte is read or written first. Prints a line of JSON for each.
int once(pid_t program, double after, double watch, std::uint64_t seed);

}  // namespace inject
