#include "core/run/driver/command_line.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/base/text.hpp"

namespace strata::graph {

namespace {

constexpr long kMost = 1L << 40;

/// `strata run` finds Strata's own solvers by the case's `solver` key, starts Python scripts, and names in
/// STRATA_SOLVER_OF the case by which it found any other. What it does not start is started directly, or by
/// `strata launch`.
Options options_of(const CaseSchema& schema, const std::string& program) {
    const char* of_case = std::getenv("STRATA_SOLVER_OF");
    const bool script = program.ends_with(".py");
    const bool own = std::filesystem::path(program).filename() == "strata-" + schema.solver();
    const bool by_case = own || of_case != nullptr, by_run = by_case || script;
    const std::string starter = by_run ? "strata run" : "strata launch";
    const std::string start = by_case ? starter : script ? starter + " " + program : program;
    const std::string example = of_case != nullptr ? start + " " + of_case
                                                   : fmt::format("{} {}NAME.toml", start,
                                                                 own ? "cases/" + schema.solver() + "/" : "");
    const auto on = [&](const std::string& layout, const std::string& command_line) {
        const std::string option = " --layout " + layout;
        return by_run ? example + command_line + option : starter + option + " -- " + example + command_line;
    };
    Options options(start, schema.summary() + "\nThe keys of a case are listed at the end.");
    options.positional("CASE", "the case file (TOML)")
        .option("--layout", "PxT", "1x1", "processes x threads (an option of `" + starter + "` itself)")
        .option("--out", "FOLDER", "", "where everything is written; without it nothing is")
        .option("--steps", "N", "", "ends after step N, if the case has not ended before")
        .option("--series", "N", "",
                "a row of series.csv every N steps; 0: none (default: 10, or what the case says)")
        .option("--fields", "N", "", "fields for ParaView every N steps, whatever [output] of the case says")
        .option("--checkpoint", "N", "0", "a checkpoint every N steps; 0: when `strata steer` asks for one")
        .option("--keep", "N", "2", "how many checkpoints are kept; 0: all")
        .option("--restart", "FOLDER", "", "goes on from the last checkpoint in FOLDER, on any layout")
        .flag("--profile", "where the time went, by task: a table, and profile.json")
        .option("--counters", "HOW", "",
                "what each task does: hardware[=EVENT,EVENT], the processor's counters, through PAPI; or "
                "simulated: instructions and cache misses from callgrind, some fifty times slower")
        .flag("--timeline", "trace.json of the latest operations, for ui.perfetto.dev")
        .flag("--quiet", "no line of progress, and no first line but for what a solver must say")
        .flag("--rewrite",
              "writes a case with keys of former versions as it is written now, keeps it as CASE.old, and "
              "runs nothing")
        .flag("--graph",
              "prints the task graph (strata.graph/1) and runs nothing: `strata graph show` reads it")
        .hidden("--replay", true)  // these four are said by `strata replay`, which checks them
        .hidden("--window", true)
        .hidden("--every", true)
        .hidden("--add", true)
        .example(on("2x1", " --out run"), "on two processes, results in the folder `run`")
        .example(example + " --out run --checkpoint 500", "with a checkpoint every 500 steps")
        .example(on("4x1", " --out run --restart run"), "goes on from the last one, on four processes")
        .example(example + " --out run --fields 100", "fields every 100 steps in run/fields")
        .example(example + " --profile --timeline --out run", "where the time went")
        .example(example + " --counters hardware", "instructions, cycles and cache misses of each task")
        .example(example + " --counters hardware=PAPI_TOT_INS,PAPI_BR_MSP",
                 "counters of one's own choice; papi_avail lists them")
        .example(example + " --counters simulated --steps 5",
                 "the same on a machine without counters; few steps say enough");
    return options;
}

ReplayWish replay_wish(const Parsed& parsed) {
    ReplayWish wish;
    wish.run = parsed.text("--replay");
    wish.add = parsed.text("--add");
    wish.list = wish.add == "help";
    if (parsed.has("--every")) wish.every = parsed.integer("--every", 1, kMost);
    const std::string window = parsed.text("--window");
    std::string_view rest = window;
    wish.from = take_number<std::int64_t>(rest).value_or(-1);
    wish.to = take(rest, ":") ? parse_number<std::int64_t>(rest).value_or(-1) : -1;
    if (!wish.list && (wish.from < 0 || wish.to < wish.from))
        throw Error("a window is its first and its last step")
            .given("--steps " + window)
            .allowed("A:B with 0 <= A <= B, e.g. --steps 1200:1300");
    return wish;
}

}  // namespace

std::optional<CommandLine> read_command_line(int argc, char** argv, const CaseSchema& schema) {
    const Parsed parsed = options_of(schema, argc > 0 ? argv[0] : "").parse(argc, argv);
    if (parsed.help()) {
        std::fputs(("\nkeys of a case:\n  solver = \"" + schema.solver() + "\"\n" + schema.help()).c_str(),
                   stdout);
        return std::nullopt;
    }
    CommandLine command_line;
    command_line.case_file = parsed.positionals().at(0);
    if (parsed.has("--layout"))
        throw Error("processes are started by strata run, strata launch, mpirun or srun")
            .given("--layout " + parsed.text("--layout"))
            .remedy(
                "strata run CASE --layout PxT, strata launch --layout PxT -- PROGRAM CASE, or "
                "STRATA_LAYOUT=PxT");
    if (parsed.has("--out")) command_line.out = std::filesystem::path(parsed.text("--out"));
    if (parsed.has("--restart")) command_line.restart = std::filesystem::path(parsed.text("--restart"));
    if (parsed.has("--steps")) command_line.steps = parsed.integer("--steps", 0, kMost);
    if (parsed.has("--fields")) command_line.fields = parsed.integer("--fields", 0, kMost);
    if (parsed.has("--series")) command_line.series = parsed.integer("--series", 0, kMost);
    command_line.checkpoint = parsed.integer("--checkpoint", 0, kMost);
    command_line.keep = static_cast<int>(parsed.integer("--keep", 0, 1 << 20));
    command_line.profile = parsed.has("--profile");
    if (parsed.has("--counters")) command_line.counters = read_counters_wish(parsed.text("--counters"));
    command_line.timeline = parsed.has("--timeline");
    command_line.quiet = parsed.has("--quiet");
    command_line.graph = parsed.has("--graph");
    command_line.rewrite = parsed.has("--rewrite");
    if (parsed.has("--replay")) command_line.replay = replay_wish(parsed);
    const char* needs = command_line.timeline                 ? "--timeline"
                        : command_line.checkpoint > 0         ? "--checkpoint"
                        : command_line.fields.value_or(0) > 0 ? "--fields"
                                                              : nullptr;
    if (!command_line.out && needs != nullptr)
        throw Error("files need a folder")
            .given(fmt::format("{} without --out", needs))
            .remedy("--out FOLDER");
    return command_line;
}

}  // namespace strata::graph
