// Programs that a test starts, by a line of the shell: how they ended, and what they said.
#pragma once

#include <stdio.h>
#include <sys/wait.h>

#include <string>

#include "tests/catch.hpp"

namespace strata::tests {

struct Done {
    int status = -1;
    std::string said;  // on both
};

inline Done run_line(const std::string& line) {
    FILE* pipe = ::popen((line + " 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    Done done;
    char piece[4096];
    for (std::size_t n = 0; (n = ::fread(piece, 1, sizeof piece, pipe)) > 0;) done.said.append(piece, n);
    done.status = WEXITSTATUS(::pclose(pipe));
    return done;
}

/// The words before a program that put it on a layout.
inline std::string on_layout(const std::string& layout) {
    return "STRATA_BIND=none STRATA_LAYOUT=" + layout + " ";
}

/// What a program says on a layout; it must end well.
inline std::string said_on(const std::string& layout, const std::string& line) {
    const Done done = run_line(on_layout(layout) + line);
    INFO(done.said);
    REQUIRE(done.status == 0);
    return done.said;
}

}  // namespace strata::tests
