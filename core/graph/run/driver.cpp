#include "core/graph/run/driver.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <iostream>

#include "core/base/error.hpp"
#include "core/graph/resolve/describe.hpp"
#include "core/graph/run/run.hpp"
#include "core/graph/run/words.hpp"

namespace strata::graph {

namespace {

namespace fs = std::filesystem;

int run_member(team::Team& team, CaseSchema& schema, const Words& words,
               const std::function<Solver(Graph&)>& declare, const Build& build) {
    Graph graph(schema.solver());
    const Solver solver = declare(graph);
    if (team.rank() == 0 && words.out) fs::create_directories(*words.out);
    Run run(team, graph, solver, schema, words);
    run.go();
    run.write_observed();
    const RunResult result = run.result(build);
    if (team.rank() == 0) {
        if (words.out) write_result(*words.out, result);
        std::fputs(result_text(result).c_str(), stdout);
        std::fflush(stdout);
    }
    // A run that was asked to stop early has not failed.
    return result.verification.passed() || !result.not_compared.empty() ? kSuccess : kFailure;
}

}  // namespace

double Finished::sum(Field<double> field,
                     const std::function<double(const Int3& at, double value)>& term) const {
    const LabelInfo& label = simulation_.plan().graph().labels()[static_cast<std::size_t>(field.id())];
    const auto& grid = static_cast<const Grid&>(*label.family);
    const auto family = static_cast<std::size_t>(number_of(simulation_.plan().graph(), grid));
    const std::vector<int>& mine = simulation_.plan().memory().patches()[family];
    std::vector<double> terms;
    for (const Kept& kept : kept_versions(simulation_.plan())) {
        if (kept.label != field.id() || kept.back != 0) continue;
        for (std::size_t p = 0; p < mine.size(); ++p) {
            const std::vector<std::byte> bytes = simulation_.values(kept, static_cast<int>(p));
            const Box all = grid.owned(mine[p], label.on, label.border), own = grid.owned(mine[p], label.on);
            std::size_t at = 0;
            for (int k = all.lo[2]; k < all.hi[2]; ++k)
                for (int j = all.lo[1]; j < all.hi[1]; ++j)
                    for (int i = all.lo[0]; i < all.hi[0]; ++i, at += sizeof(double)) {
                        if (!own.contains(Int3{i, j, k})) continue;
                        double value = 0;
                        std::memcpy(&value, bytes.data() + at, sizeof value);
                        terms.push_back(term({i, j, k}, value));
                    }
        }
    }
    return sum(terms);
}

double Finished::sum(std::span<const double> terms) const { return team_.together().sum(terms); }

int drive(int argc, char** argv, CaseSchema& schema, const std::function<Solver(Graph&)>& declare,
          const Build& build, const std::vector<std::string>& start) {
    Words words;
    try {
        const std::optional<Words> read = read_words(argc, argv, schema);
        if (!read) return kSuccess;
        words = *read;
        schema.read(words.case_file);
        Graph graph(schema.solver());  // what cannot be is said before anything starts
        declare(graph);
        const Resolved resolved = resolve(graph);
        if (words.graph) {
            describe(graph, resolved, std::cout);
            std::cout.flush();
            return kSuccess;
        }
    } catch (const Error& error) {
        std::fputs(error.text().c_str(), stderr);
        return error.exit_code();
    }
    std::vector<char*> again(argv, argv + argc);
    if (!start.empty()) again.clear();
    for (const std::string& word : start) again.push_back(const_cast<char*>(word.c_str()));
    return team::run(static_cast<int>(again.size()), again.data(),
                     [&](team::Team& team) { return run_member(team, schema, words, declare, build); });
}

}  // namespace strata::graph
