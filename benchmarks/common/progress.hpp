#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "benchmarks/common/clock.hpp"

namespace strata::bench {

/// A line on standard error that says how far a long measurement is, only where a person looks at it: on a
/// terminal, and at most once a second, between timed parts.
class Progress {
  public:
    Progress(const char* what, std::size_t total)
        : what_(what), total_(total), shown_(isatty(STDERR_FILENO) != 0) {}
    ~Progress() {
        if (written_) std::fputs("\r\033[K", stderr);
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void step() {
        ++done_;
        if (!shown_ || now() - last_ < 1.0) return;
        last_ = now();
        written_ = true;
        std::fprintf(stderr, "\r\033[K%s: %zu of %zu", what_, done_, total_);
        std::fflush(stderr);
    }

  private:
    const char* what_;
    std::size_t total_, done_ = 0;
    double last_ = now();
    bool shown_, written_ = false;
};

}  // namespace strata::bench
