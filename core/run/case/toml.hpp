// toml++, for the sources of this folder that look into a case file's text.
#pragma once

#include <stdexcept>
#include <string>

// What toml++ asserts of a text does not hold for every text, and a failed assertion ends a process. Without
// assertions it may be worse: compilers are told that they hold. So they are kept, and throw.
#ifdef NDEBUG
#define STRATA_WITHOUT_ASSERTIONS
#undef NDEBUG
#endif
[[noreturn]] inline void toml_asserts(const char* what) {
    throw std::logic_error(std::string("toml++ cannot parse it: ") + what);
}
#define TOML_ASSERT(holds) static_cast<void>((holds) ? 0 : (toml_asserts(#holds), 0))
#include <toml++/toml.h>
#ifdef STRATA_WITHOUT_ASSERTIONS
#define NDEBUG
#endif
