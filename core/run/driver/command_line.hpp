// The command line of a solver's program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/run/case/case.hpp"
#include "core/run/profile/counting.hpp"

namespace strata::graph {

struct CommandLine {
    std::string case_file;
    std::optional<std::filesystem::path> out, restart;
    std::optional<std::int64_t> steps, fields;  // fields: every so many steps, instead of [output]
    std::optional<CountersWish> counters;
    std::int64_t checkpoint = 0;         // every so many steps; 0: none
    std::optional<std::int64_t> series;  // the same; not given: what the solver says
    int keep = 2;
    bool profile = false, timeline = false, quiet = false, graph = false;
};

/// Empty where help was asked for: it has been printed. Throws Error.
[[nodiscard]] std::optional<CommandLine> read_command_line(int argc, char** argv, const CaseSchema& schema);

}  // namespace strata::graph
