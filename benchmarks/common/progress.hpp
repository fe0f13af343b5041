#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "benchmarks/common/clock.hpp"
#include "core/base/units.hpp"

namespace strata::bench {

/// A line on standard error that says how far a long measurement is, only where a person looks at it: on a
/// terminal, and at most once a second, between timed parts.
class Progress {
  public:
    explicit Progress(const char* what, std::size_t total = 0)
        : what_(what), total_(total), shown_(isatty(STDERR_FILENO) != 0) {}
    ~Progress() {
        if (written_) std::fputs("\r\033[K", stderr);
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void step() {
        ++done_;
        if (!due()) return;
        std::fprintf(stderr, "\r\033[K%s: %zu of %zu", what_, done_, total_);
        std::fflush(stderr);
    }

    /// For work that is one timed part: the share of it that is done, and from that what is left to wait.
    void reach(double share) {
        if (!due() || share <= 0) return;
        const double left = (now() - start_) * (1 - share) / share;
        std::fprintf(stderr, "\r\033[K%s: %.0f %%, about %s left", what_, 100 * share,
                     print_duration(left).c_str());
        std::fflush(stderr);
    }

    /// Nothing more is shown; for those who are not the first process.
    void hide() { shown_ = false; }

  private:
    [[nodiscard]] bool due() {
        if (!shown_ || now() - last_ < 1.0) return false;
        last_ = now();
        return written_ = true;
    }

    const char* what_;
    std::size_t total_, done_ = 0;
    double start_ = now(), last_ = start_;
    bool shown_, written_ = false;
};

}  // namespace strata::bench
