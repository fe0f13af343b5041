#pragma once

// Assertions without a handler of their own around each expression: what it throws ends the test case all the
// same.
#define CATCH_CONFIG_FAST_COMPILE

// Catch2 moved its header in version 3 and left the assertions as they were: tests include this one.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

/// Ends a test that cannot be tried here: CTest counts it as skipped, by this word (strata_test in
/// cmake/StrataTargets.cmake). Catch2 has a way of its own from version 3.3 on.
#define CANNOT_TRY(why)              \
    do {                             \
        WARN("cannot try: " << why); \
        return;                      \
    } while (false)

/// Ends a test that AddressSanitizer disturbs: programs with it have more memory, and do not run under
/// valgrind.
#ifdef __SANITIZE_ADDRESS__
#define NOT_WITH_SANITIZERS() CANNOT_TRY("this is a build with AddressSanitizer")
#else
#define NOT_WITH_SANITIZERS() static_cast<void>(0)
#endif
