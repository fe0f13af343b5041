// The command line of a solver's program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/run/case/case.hpp"
#include "core/run/profile/counting.hpp"

namespace strata::graph {

/// What `strata replay` asks of a solver's program.
struct ReplayWish {
    std::filesystem::path run;
    std::int64_t from = 0, to = 0, every = 1;
    std::string add;    // names joined by commas, which names may have as well
    bool list = false;  // --add help: only says what can be added
};

struct CommandLine {
    std::string case_file;
    std::optional<std::filesystem::path> out, restart;
    std::optional<std::int64_t> steps, fields;  // fields: every so many steps, instead of [output]
    std::optional<CountersWish> counters;
    std::int64_t checkpoint = 0;         // every so many steps; 0: none
    std::optional<std::int64_t> series;  // the same; not given: what the solver says
    int keep = 2;
    std::optional<ReplayWish> replay;
    bool profile = false, timeline = false, quiet = false, graph = false, rewrite = false;
};

/// Empty where help was asked for: it has been printed. Throws Error.
[[nodiscard]] std::optional<CommandLine> read_command_line(int argc, char** argv, const CaseSchema& schema);

}  // namespace strata::graph
