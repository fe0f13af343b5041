// The speed-up of a process on t threads over one: measured, not assumed.
#pragma once

#include <string>
#include <vector>

namespace strata::balance {

/// One measured point: the same work took `seconds` on `threads` threads.
struct ThreadPoint {
    int threads;
    double seconds;
};

/// Speed-up over the number of threads. Between measured counts the speed-up is interpolated linearly; beyond
/// the last one, and where more threads were slower, it stays at the best that was reached: a process may
/// leave threads idle, and nothing is known of counts that nobody measured.
class ThreadCurve {
  public:
    /// t threads are t times as fast, up to any count.
    [[nodiscard]] static ThreadCurve ideal();
    /// From measured points in any order, each count once, one of them a single thread. Throws Error.
    [[nodiscard]] static ThreadCurve measured(std::vector<ThreadPoint> points, std::string name);
    /// INS3D with 36 groups on Columbia's Altix 3700, 1 to 12 threads each (Biswas et al., "An
    /// Application-Based Performance Characterization of the Columbia Supercluster", 2005, table 2).
    [[nodiscard]] static ThreadCurve ins3d();
    /// A CSV file with the columns threads,seconds. Throws Error with file and line.
    [[nodiscard]] static ThreadCurve read(const std::string& path);

    /// At least 1; threads >= 1.
    [[nodiscard]] double speedup(int threads) const;
    /// The fewest threads that are `speedup` times as fast as one; 0 where no count is.
    [[nodiscard]] int threads_for(double speedup) const;
    /// CPUs that a process pays for each unit of speed, at best, when it has `threads` threads or more:
    /// min over t >= threads of t / speedup(t).
    [[nodiscard]] double price_from(int threads) const;
    /// More threads than this add nothing. A large number for the ideal curve.
    [[nodiscard]] int most() const;
    /// The same curve for processes that may have at most so many threads.
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
