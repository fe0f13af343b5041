// strata run: a case by the solver that it names.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/case_solver.hpp"
#include "cli/commands.hpp"
#include "cli/own_solver.hpp"
#include "cli/programs.hpp"
#include "cli/python.hpp"
#include "cli/trusted_code.hpp"
#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/launch/program.hpp"
#include "core/launch/script.hpp"

namespace strata::cli {
namespace {

Options declare() {
    Options options(
        "strata run",
        "Runs a case: the solver that the case names, from its beginning to its end. Options not "
        "listed here go to the solver; strata run CASE --help shows them and the keys of a case.");
    options
        .positional(
            "CASE",
            "the case file (TOML), or the name of a solver with --help; or SOLVER.py, and then its case")
        .option("--layout", "PxT", "", "processes x threads; without it one of each")
        .option("--nodes", "N", "", "on so many nodes of a Slurm cluster, which the layout's processes share")
        .optional("--bcast", "FOLDER", "/tmp",
                  "with --nodes, in a job: send the solver to FOLDER on each node first (/tmp unless said)")
        .option("--stride", "N", "1", "cores from one thread to the next")
        .option("--bind", "core|none", "core", "hold threads on their cores, or leave them to the system")
        .example("strata run cases/transport/heat.toml --layout 1x2 --out run",
                 "on two threads; result.json is in the folder `run`")
        .example("strata run cases/transport/heat.toml --nodes 4 --layout 64x4 --out run",
                 "16 processes of four threads on each of four nodes")
        .example("strata run my_solver.py my_case.toml --layout 4x1 --out run",
                 "a solver in Python (strata.graph.program), on four processes")
        .example("strata run wave/case.toml --layout 2x1",
                 "a solver that `strata new wave` began; it is built where its sources changed")
        .example("strata run old.toml --rewrite",
                 "a case with keys of former versions is written as it is now, and kept as old.toml.old")
        .example("strata run transport --help", "the keys that a case of this solver may have");
    return options;
}

/// Whether valgrind lacks instructions of this processor: then solvers have a twin without them.
bool valgrind_needs_twins() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") != 0;
#else
    return true;
#endif
}

/// Whether the solver is asked for simulated counters.
bool asks_for_simulation(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i] == "--counters=simulated" ||
            (words[i] == "--counters" && i + 1 < words.size() && words[i + 1] == "simulated"))
            return true;
    return false;
}

std::optional<std::string> find_solver(const std::string& name) { return find_program("strata-" + name); }

bool is_name(const std::string& word) {
    if (word.empty()) return false;
    for (const char c : word)
        if (std::islower(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_') return false;
    return true;
}

/// Of a solver of one's own: a program's and a file's.
bool is_file_name(const std::string& word) {
    for (const char c : word)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_') return false;
    return !word.empty();
}

}  // namespace

std::string python_for(const std::string& solver) {
    if (!std::filesystem::is_regular_file(solver))
        throw Error("there is no such solver").given(solver).remedy("strata run SOLVER.py CASE");
    if (!launch::drives_a_team(solver))
        throw Error("this program is no solver")
            .at(solver)
            .given("no import of strata.graph.program")
            .allowed("a program that ends with strata.graph.program.drive(case, declare)")
            .remedy("strata launch --layout 1x1 -- python3 " + solver + " runs any program");
    const auto python = find_python();
    if (!python)
        throw Error("a solver in Python needs Strata's Python side, which is not set up", kFailure)
            .given(solver)
            .remedy("run ./strata from the checkout, or pip install . into a virtual environment");
    need_part("python");
    forget_modules_here(false);
    setenv("STRATA_BIN", (own_folder() + "/strata").c_str(), 1);
    setenv("STRATA_SOLVER", "1", 1);  // strata.graph.program fails where drive() is never called
    return *python;
}

std::vector<std::string> command_for(const std::string& file) {
    namespace fs = std::filesystem;
    const CaseSolver named = solver_named_in(file);
    if (is_name(named.name))
        if (const auto solver = find_solver(named.name)) return {*solver};
    const fs::path path(named.name);
    const fs::path folder = (fs::path(file).parent_path() / path.parent_path() / ".").lexically_normal();
    const std::string name = path.filename().string();
    setenv("STRATA_SOLVER_OF", file.c_str(), 1);  // its --help says `strata run` with this case
    if (const std::string script = (folder / (name + ".py")).string();
        is_file_name(name) && fs::is_regular_file(script)) {
        const std::string code = trusted_code(script, file).string();
        return {python_for(code), code};
    }
    if (is_file_name(name) && is_own_solver(folder.string())) {
        const fs::path code = trusted_code(folder / "CMakeLists.txt", file);
        return {built_solver(code.parent_path().string(), name)};
    }
    throw Error("there is no such solver")
        .at(file, named.line, "solver")
        .given(named.name)
        .allowed(
            "a solver that is built: strata-NAME beside this program; or one of your own, NAME or PATH/NAME: "
            "then NAME.py or a CMakeLists.txt with find_package(strata) is at PATH from the case's folder")
        .remedy("strata new NAME writes one; strata doctor says what was left out, and why");
}

namespace {

/// A run that is long should have a node of its own.
void tell_on_a_login_node(const std::string& first) {
    if (!launch::environment_value("SLURM_JOB_ID").empty() || !launch::on_path("sbatch")) return;
    std::fprintf(
        stderr,
        "this looks like a login node of a Slurm cluster: strata submit -- run %s ... gives the run a "
        "node of its own\n",
        first.c_str());
}

}  // namespace

int run_command(int argc, char** argv) {
    const Options options = declare();
    std::vector<std::string> own, solver_words;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i], name = word.substr(0, word.find('='));
        const bool ours = name == "--layout" || name == "--nodes" || name == "--bcast" ||
                          name == "--stride" || name == "--bind";
        (ours ? own : solver_words).push_back(word);
        if (ours && name == word && name != "--bcast" && i + 1 < argc) own.emplace_back(argv[++i]);
    }
    if (solver_words.size() > 1 && solver_words.front() == "--rewrite")
        std::swap(solver_words[0], solver_words[1]);  // as well before the case as after it
    const std::string first = solver_words.empty() ? "" : solver_words.front();
    if (first.empty() || first == "--help" || first == "-h") {
        std::fputs(options.help().c_str(), stdout);
        return first.empty() ? kBadInput : kSuccess;
    }
    if (first[0] == '-') throw Error("the case comes first").given(first).remedy("strata run CASE [options]");
    std::vector<std::string> command;
    if (first.ends_with(".py")) {
        (void)trusted_code(first, first);
        command.push_back(python_for(first));
    } else if (is_name(first) && find_solver(first))
        command.push_back(*find_solver(first));
    else
        command = command_for(first);
    command.insert(command.end(), solver_words.begin(), solver_words.end());
    for (const std::string& word : solver_words)
        if (word == "--help" || word == "-h") become(command);

    // The twin is built when it is first asked for. Without it the solver itself says what is missing.
    if (asks_for_simulation(solver_words) && valgrind_needs_twins())
        static_cast<void>(
            find_program(std::filesystem::path(command.front()).filename().string() + "-simulated"));

    own.push_back(first);
    const Parsed parsed = options.parse(own);
    if (!parsed.has("--nodes")) tell_on_a_login_node(first);
    const std::string layout = parsed.text("--layout");
    const std::string one_each = parsed.has("--nodes") ? parsed.text("--nodes") + "x1" : "1x1";
    return launch_laid_out(layout.empty() ? one_each : layout, parsed, command);
}

}  // namespace strata::cli
