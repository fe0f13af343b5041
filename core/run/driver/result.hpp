// The result of a run: the document strata.result/1 (docs/formats.md), and the same as text.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/base/figures.hpp"
#include "core/graph/simulation/bytes.hpp"
#include "core/graph/simulation/moves.hpp"
#include "core/run/profile/counting.hpp"

namespace strata::graph {

// A solver's program uses these names from this namespace.
using strata::Figure;
using strata::Verification;

struct RunResult {
    std::string solver, case_file;
    std::vector<std::pair<std::string, std::string>> settings;  // all keys of the case, as TOML values
    int processes = 1, threads = 1;
    double steps_s = 0;                                  // time of the steps
    std::vector<std::pair<std::string, double>> phases;  // parts of the run's time, in s
    std::int64_t steps = 0;                              // done since the start of the case
    double time = 0;
    std::string time_unit;
    Verification verification;
    std::vector<Verification> criteria;  // all of them
    std::string not_compared;  // the reason why no comparison was made; then the result is not verified
    std::string unasked;       // why nothing is verified although a rule of the solver's own holds
    std::vector<Figure> figures;
    std::vector<std::string> notes;
    std::string compiler, flags, case_hash;
    std::vector<RunBytes> memory;  // [process]
    BalanceRecord balance;         // by measured costs
    Counts counts;                 // of tasks; without a mode: none were requested
};

/// A result consists of numbers: where one of `figures` is none (NaN, infinity), or `odd` says what else of
/// the run is, the verification becomes one that has failed and says which. This holds for all solvers.
void hold_to_numbers(RunResult& result, const std::vector<Figure>& figures, const std::string& odd = "");
/// Without a passed verification there are no figures.
[[nodiscard]] std::string result_text(const RunResult& result);
/// Writes what a user has named: a file whole, or not at all (core/base/named_file.hpp). Throws Error.
void write_result_to(const std::filesystem::path& file, const RunResult& result);
/// Writes FOLDER/result.json: whole, or not at all. Throws Error.
void write_result(const std::filesystem::path& folder, const RunResult& result);

}  // namespace strata::graph
