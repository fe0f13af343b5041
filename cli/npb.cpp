// strata bench npb and npb-mz: which program runs a benchmark of the suite, and under which layout.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench.hpp"
#include "cli/commands.hpp"
#include "cli/programs.hpp"
#include "core/base/error.hpp"
#include "core/launch/layout.hpp"

namespace strata::cli {
namespace {

/// Threads where there is one process; messages where there are several and MPI was built in, else an arena.
std::string usual_model(int processes) {
    if (!is_rank() && processes == 1) return "openmp";
    return is_rank() || find_program("strata-npb-mpi") ? "mpi" : "team";
}

std::string program_of(const std::string& model) {
    const std::string name = model == "openmp" ? "strata-npb" : "strata-npb-" + model;
    if (auto found = find_program(name)) return *found;
    throw Error(fmt::format("{} is not built", name), kFailure)
        .remedy(model == "mpi" ? "strata doctor says how to get an MPI; then ./strata setup builds it"
                               : "strata doctor");
}

}  // namespace

std::optional<std::string> take(std::vector<std::string>& words, const std::string& name) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
        if (words[i].rfind(name + "=", 0) == 0) {
            const std::string value = words[i].substr(name.size() + 1);
            words.erase(at);
            return value;
        }
        if (words[i] == name && i + 1 < words.size()) {
            const std::string value = words[i + 1];
            words.erase(at, at + 2);
            return value;
        }
    }
    return std::nullopt;
}

int npb_command(const std::string& suite, const std::vector<std::string>& own,
                std::vector<std::string> words) {
    Options options("strata bench npb", "");
    options.option("--layout", "PxT", "", "")
        .option("--stride", "N", "1", "")
        .option("--bind", "HOW", "core", "");
    const Parsed given = options.parse(own);
    const std::string layout = given.text("--layout");
    const int processes = layout.empty() ? 1 : launch::parse_layout(layout).processes;
    const std::string model = take(words, "--model").value_or(usual_model(processes));
    const std::vector<std::string> models = {"openmp", "mpi", "team", "graph"};
    if (std::find(models.begin(), models.end(), model) == models.end())
        throw Error("unknown programming model").given(model).allowed("openmp, mpi, team, graph");
    if (model == "graph" && suite != "npb")
        throw Error("the benchmarks over zones are not written as task graphs")
            .given("--model graph")
            .allowed("--model openmp, mpi or team");
    if (model == "openmp" && processes > 1)
        throw Error("OpenMP's threads are those of one process")
            .given(fmt::format("--layout {} --model openmp", layout))
            .remedy("--model team or --model mpi for several processes");
    const auto asked = [&](const char* word) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    // A plan is for any layout, also one that this machine has no cores for: nothing is started.
    const bool plan = asked("--dry-run") || asked("--balance");
    std::vector<std::string> command = {
        program_of(model != "graph" && (plan || asked("--list") || asked("--help")) ? "openmp" : model)};
    if (suite == "npb-mz") command.emplace_back("--multi-zone");
    command.insert(command.end(), words.begin(), words.end());
    if (plan) {
        command.insert(command.end(), {"--model", model});
        if (!layout.empty()) command.insert(command.end(), {"--layout", layout});
    }
    if (layout.empty() || plan) become(command);
    return launch_laid_out(layout, given, command);
}

}  // namespace strata::cli
