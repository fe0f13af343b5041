// strata replay: steps of a run again, with more output. This finds and starts the run's own program.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands.hpp"
#include "cli/python.hpp"
#include "cli/trusted_code.hpp"
#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/launch/program.hpp"
#include "core/run/history/history.hpp"

namespace strata::cli {
namespace {

namespace fs = std::filesystem;

Options declare() {
    Options options(
        "strata replay",
        "Computes a window of a run again, from the nearest checkpoint before it, with what was steered in "
        "the run, on any layout: so trajectories need not be stored. What the run wrote within those steps "
        "(rows of series.csv, field files, checkpoints) is compared bit for bit; the first difference is an "
        "error. The run's files stay as they are. It takes the program that computed the run, on the same "
        "kind of processor; otherwise it is refused. A run keeps two checkpoints unless --keep N (0: all) "
        "says more.");
    options.positional("RUN", "the folder of a run of any solver: strata run CASE --out RUN")
        .option("--steps", "A:B", "", "the window: its first and its last step")
        .option("--every", "N", "1", "fields and a row of series.csv every N steps of the window")
        .option("--add", "NAME,NAME", "",
                "also what the run did not write: any field, particles' values or number that is there at "
                "the end of a step; --add help lists them")
        .option("--out", "FOLDER", "", "where the window is written (default: RUN/replay-A-B)")
        .option("--layout", "PxT", "", "processes x threads, of any number; without it one of each")
        .option("--nodes", "N", "", "on so many nodes of a Slurm cluster, which the layout's processes share")
        .optional("--bcast", "FOLDER", "/tmp",
                  "with --nodes, in a job: send the solver to FOLDER on each node first (/tmp unless said)")
        .option("--stride", "N", "1", "cores from one thread to the next")
        .option("--bind", "core|none", "core", "hold threads on their cores, or leave them to the system")
        .flag("--quiet", "no line of progress")
        .example("strata replay run --steps 1200:1300",
                 "each of these steps, with the fields of the run's case")
        .example("strata replay run --steps 1200:1300 --every 10 --add forces,stress --layout 2x4",
                 "every tenth, with two more fields, on another layout than the run's")
        .example("strata replay run --add help", "what --add takes for this run")
        .example("strata replay run --steps 0:100 --out /scratch/first",
                 "from the start, where no checkpoint lies before the window");
    return options;
}

/// A process that removes an unfinished replay, however its processes end: they hold the other end of a pipe.
/// The replay itself holds a lock on its folder.
void leave_janitor(const fs::path& out) {
    const fs::path partial = out.parent_path() / ("." + out.filename().string() + ".partial");
    int line[2];
    if (pipe(line) != 0) return;  // the next replay sweeps
    const pid_t child = fork();
    if (child != 0) {
        waitpid(child, nullptr, 0);
        close(line[0]);  // line[1] stays open in this process and those that it starts
        return;
    }
    if (fork() != 0) _exit(0);  // nobody's child: the launcher ends all that are its own
    setsid();
    close(line[1]);
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int file : {0, 1, 2}) dup2(nowhere, file);
    char byte;
    while (read(line[0], &byte, 1) > 0) {
    }
    std::error_code none;
    for (int i = 0; i < 100 && fs::exists(partial, none);
         ++i) {  // on other nodes it may live a little longer
        const int place = open(partial.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (place >= 0 && flock(place, LOCK_EX | LOCK_NB) == 0) fs::remove_all(partial, none);
        if (place >= 0) close(place);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    _exit(0);
}

/// The command that computed the run. A history may be a stranger's: it names a solver of one's own, and
/// nothing else is started.
std::vector<std::string> program_of(const graph::RunLeg& leg, const std::string& history) {
    if (leg.case_file.starts_with("-"))
        throw Error("no file of a case has such a name")
            .at(history, 0, "case")
            .given(leg.case_file)
            .allowed("the path of a case file")
            .remedy("write ./ before the name in that line of the history, if it is your own");
    if (leg.program.ends_with(".py")) {
        const std::string script = trusted_code(leg.program, history).string();
        return {python_for(script), script};
    }
    if (access(leg.program.c_str(), X_OK) == 0) {
        const std::string program = trusted_code(leg.program, history).string();
        if (launch::examine(program, "").team) return {program};
        throw Error("this program is no solver of Strata's")
            .at(history, 0, "program")
            .given(leg.program)
            .allowed("a program that was linked with Strata's libraries, or a Python script")
            .remedy("see whose history it is: a stranger's may name any program");
    }
    if (fs::is_regular_file(leg.case_file)) return command_for(leg.case_file);
    throw Error("the program that computed the run is not there any more")
        .given(leg.program)
        .remedy("build it again, from the same sources by the same compiler: the same bits are accepted");
}

/// Goes into the folder in which the run was started: files that its case names are seen from there. A
/// stranger's history may name any: what search paths count from the current folder (an empty entry, as
/// `PATH=MINE:$PATH` leaves, is that folder) stays what it was where the command was typed.
void enter(const fs::path& folder) {
    std::error_code failed;
    const fs::path here = fs::current_path(failed);
    forget_modules_here(false);
    const auto keep = [&](const char* name, const char* ends, bool plain_names) {
        std::string said = launch::environment_value(name), kept;
        if (said.empty()) return;
        for (std::size_t at = 0; at <= said.size();) {
            const std::size_t end = std::min(said.find_first_of(ends, at), said.size());
            const std::string each = said.substr(at, end - at);
            at = end + 1;
            if (plain_names && each.find('/') == std::string::npos) {
                kept += (kept.empty() ? "" : ":") + each;
            } else if (!failed || each.starts_with('/')) {
                kept += (kept.empty() ? "" : ":") + (each.empty() ? here : here / each).string();
            }
        }
        setenv(name, kept.c_str(), 1);
    };
    keep("PATH", ":", false);
    keep("PYTHONPATH", ":", false);
    keep("LD_LIBRARY_PATH", ":;", false);  // ld.so(8)
    for (const char* const name : {"LD_PRELOAD", "LD_AUDIT"})
        keep(name, ": ", true);  // a name without a slash is looked for where libraries are
    fs::current_path(folder, failed);
}

}  // namespace

int replay_command(int argc, char** argv) {
    const Parsed parsed = declare().parse(argc, argv);
    if (parsed.help()) return kSuccess;
    const fs::path run = fs::absolute(parsed.positionals().at(0)).lexically_normal();
    const bool list = parsed.text("--add") == "help";
    if (!list && !parsed.has("--steps"))
        throw Error("which steps?")
            .allowed("--steps A:B, the window's first and last step")
            .remedy("strata replay --help");
    (void)parsed.integer("--every", 1, 1L << 40);
    const graph::RunRecord record = graph::read_history(run);
    const std::string window = parsed.text("--steps");
    const std::int64_t from = std::strtoll(window.c_str(), nullptr, 10);  // the solver checks it
    const graph::RunLeg& leg = list ? record.legs.back() : record.leg_of(from);
    std::vector<std::string> command = program_of(leg, (run / "history.jsonl").string());
    command.insert(command.end(),
                   {leg.case_file, "--replay", run.string(), "--every", parsed.text("--every")});
    if (!list) command.insert(command.end(), {"--window", window});
    if (parsed.has("--add")) command.insert(command.end(), {"--add", parsed.text("--add")});
    if (parsed.has("--quiet")) command.emplace_back("--quiet");
    if (!list) {
        std::string name = "replay-" + window;
        if (const auto colon = name.find(':'); colon != std::string::npos) name[colon] = '-';
        fs::path out =
            parsed.has("--out") ? fs::absolute(parsed.text("--out")).lexically_normal() : run / name;
        if (out.filename().empty()) out = out.parent_path();
        command.insert(command.end(), {"--out", out.string()});
        leave_janitor(out);
    }
    enter(leg.folder);
    const std::string layout = parsed.text("--layout");
    const std::string one_each = parsed.has("--nodes") ? parsed.text("--nodes") + "x1" : "1x1";
    return launch_laid_out(layout.empty() ? one_each : layout, parsed, command);
}

}  // namespace strata::cli
