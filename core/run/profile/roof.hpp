// What this machine was measured to do, from the newest results of `strata characterize`: the roofline beside
// which a profile's rates stand (S. Williams, A. Waterman, D. Patterson, CACM 52(4), 2009).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace strata::graph {

/// Of so many threads together.
struct Roof {
    int threads = 1;
    double gflops = 0, gbs = 0;  // measured peak of multiplications and additions, STREAM's triad
    std::string source;          // the results folder

    [[nodiscard]] double gflops_of_thread() const { return gflops / threads; }
    [[nodiscard]] double gbs_of_thread() const { return gbs / threads; }
};

/// Where results are: $STRATA_RESULTS, else strata-results in the current folder.
[[nodiscard]] std::filesystem::path results_folder();

/// The newest characterization of this machine (its name and processor) in `results` that has both figures:
/// the peak of as many cores, else that of one core for each; the fastest triad of at most as many. Nothing
/// where there is none; files that cannot be read are passed over.
[[nodiscard]] std::optional<Roof> measured_roof(const std::filesystem::path& results, int threads);

}  // namespace strata::graph
