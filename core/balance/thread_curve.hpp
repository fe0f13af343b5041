// The measured speed-up of a process with t threads over one thread.
#pragma once

#include <string>
#include <vector>

namespace strata::balance {

/// One measured point: the same work took `seconds` on `threads` threads.
struct ThreadPoint {
    int threads;
    double seconds;
};

/// Speed-up over the number of threads. Between measured counts it is interpolated linearly. Beyond the last
/// one, and where more threads were slower, it stays at the best measured value: a process may leave threads
/// idle, and counts beyond the measured ones are not extrapolated.
class ThreadCurve {
  public:
    /// t threads are t times as fast, up to any count.
    [[nodiscard]] static ThreadCurve ideal();
    /// From measured points in any order: each count once, and one of them a single thread. Throws Error.
    [[nodiscard]] static ThreadCurve measured(std::vector<ThreadPoint> points, std::string name);
    /// INS3D with 36 groups on Columbia's Altix 3700, 1 to 12 threads each (Biswas et al., "An
    /// Application-Based Performance Characterization of the Columbia Supercluster", 2005, table 2).
    [[nodiscard]] static ThreadCurve ins3d();
    /// A CSV file with the columns threads,seconds. Throws Error with file and line.
    [[nodiscard]] static ThreadCurve read(const std::string& path);

    /// At least 1; threads >= 1.
    [[nodiscard]] double speedup(int threads) const;
    /// The fewest threads with at least this speed-up; 0 where no count reaches it.
    [[nodiscard]] int threads_for(double speedup) const;
    /// The number of CPUs for each unit of speed, at best, of a process with `threads` threads or more: the
    /// minimum over t >= threads of t / speedup(t).
    ///   Example: with speedup(8) = 4 and no better ratio beyond, price_from(8) is 2.
    [[nodiscard]] double price_from(int threads) const;
    /// Threads beyond this number add no speed. A large number for the ideal curve.
    [[nodiscard]] int most() const;
    /// The same curve for processes with at most `threads` threads.
    [[nodiscard]] ThreadCurve limited_to(int threads) const;
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] bool is_ideal() const { return speedup_.empty(); }

  private:
    std::string name_ = "ideal";
    std::vector<double> speedup_;  // [threads - 1]; empty: ideal
    std::vector<double> price_;    // [threads - 1], price_from
    int most_ = 1 << 30;
};

}  // namespace strata::balance
