// The measured roofline of this machine, from the newest results of `strata characterize`, for comparison
// with a profile's rates (S. Williams, A. Waterman, D. Patterson, CACM 52(4), 2009).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace strata::graph {

/// Rates of `threads` threads together.
struct Roof {
    int threads = 1;
    double gflops = 0, gbs = 0;  // measured peak of multiplications and additions, STREAM's triad
    std::string source;          // the results folder

    [[nodiscard]] double gflops_of_thread() const { return gflops / threads; }
    [[nodiscard]] double gbs_of_thread() const { return gbs / threads; }
};

/// The folder of results: $STRATA_RESULTS, else strata-results in the current folder.
[[nodiscard]] std::filesystem::path results_folder();

/// The newest characterization of this machine (its name and processor) in `results` that has both figures.
/// The peak is that of as many cores, else that of one core times their number; the triad is the fastest of
/// at most as many. None where there is no such characterization. Unreadable files are skipped.
[[nodiscard]] std::optional<Roof> measured_roof(const std::filesystem::path& results, int threads);

}  // namespace strata::graph
