#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <iostream>

#include "core/base/error.hpp"

namespace strata::cli {

void flush_output() {
    errno = 0;
    std::cout.flush();
    const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
    if (!arrived) throw system_error("the output cannot be written", errno != 0 ? errno : EIO);
}

}  // namespace strata::cli
