// The native front: finds the command, prints the one error, and hands what is not native to Python.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/own_solver.hpp"
#include "cli/programs.hpp"
#include "cli/python.hpp"
#include "cli/recall.hpp"
#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/base/process_age.hpp"
#include "core/base/reason.hpp"
#include "core/base/unread.hpp"

namespace strata::cli {
namespace {

struct Command {
    const char* name;
    int (*native)(int, char**);  // none: Python has it
    const char* group;           // none: spoken between Strata's own parts, left out of the help
    const char* summary;
};

constexpr const char* kMachine = "the machine";
constexpr const char* kLayout = "your program on it";
constexpr const char* kScience = "simulations";
constexpr const char* kResults = "results";
constexpr const char* kStrata = "Strata itself";

const std::vector<Command>& commands() {
    static const std::vector<Command> list = {
        {"characterize", nullptr, kMachine,
         "what this machine can do and how to lay out a program on it: a report"},
        {"machine", machine_command, kMachine,
         "what is here: topology, limits, findings; --json, --svg, --measure"},
        {"bench", bench_command, kMachine, "one verified benchmark: stream, dgemm, rings, ...; --list"},
        {"centre", nullptr, kMachine,
         "for those who keep it in service: reliability, wrong answers, use, slow nodes"},
        {"launch", launch_command, kLayout, "run a program with every thread where it belongs"},
        {"tune", nullptr, kLayout, "the best layout for a program, found by racing, with an interval"},
        {"submit", nullptr, kLayout, "send a command to nodes of a Slurm cluster, by a script that says why"},
        {"where", where_command, kLayout, "on which CPU its threads run and in which memory its pages lie"},
        {"balance", balance_command, kLayout, "zones to processes and threads to match, with the efficiency"},
        {"steer", nullptr, kLayout, "ask a run how far it is, change its parameters, checkpoint or stop it"},
        {"cluster", nullptr, kLayout,
         "a cluster in a box: real Slurm on nodes that are namespaces; up, shell, kill, cut, down"},
        {"study", nullptr, kLayout,
         "programs under several layouts, with intervals; uncertainty: forces of a flow with error bars"},
        {"graph", nullptr, kLayout, "a solver's task graph: a drawing, its critical path, its memory"},
        {"run", run_command, kScience, "a case by the solver that it names; strata run SOLVER --help"},
        {"replay", replay_command, kScience,
         "steps of a run again, bit for bit, with more output: a window from the nearest checkpoint"},
        {"md", nullptr, kScience, "molecular dynamics: what a run says, structures of other programs"},
        {"flow", nullptr, kScience, "compressible flow: what a run says, beside recorded curves"},
        {"overset", nullptr, kScience, "meshes that overlap: holes, donors, orphans, with pictures"},
        {"new", nullptr, kScience, "a solver of your own to begin with: a folder that runs; --python"},
        {"report", nullptr, kResults, "make the report again from a results folder, or compare two"},
        {"results", nullptr, kResults, "list what was measured: medians, intervals, disturbed samples"},
        {"doctor", nullptr, kStrata, "what was found on this machine, and what each absence costs"},
        {"findings", nullptr, nullptr, ""},
        {"go-on", nullptr, nullptr, ""},
        {"draw", nullptr, nullptr, ""},
        {"machine-measure", nullptr, nullptr, ""},
    };
    return list;
}

void print_help() {
    std::string text =
        "Strata: what a parallel machine can do, and how to lay a program out on it.\n\nusage: strata "
        "COMMAND [options]\n";
    const char* group = "";
    for (const Command& command : commands()) {
        if (command.group == nullptr) continue;
        if (command.group != group) text += fmt::format("\n{}\n", command.group);
        group = command.group;
        text += fmt::format("  {:<14} {}\n", command.name, command.summary);
    }
    // These need the checkout and are ./strata's own.
    constexpr std::pair<const char*, const char*> checkout[] = {
        {"test", "build and pass all tests; --soak adds the long campaigns"},
        {"docs", "build the documentation site"},
        {"setup", "set everything up again, and say what was found"},
        {"clean", "remove what was built"}};
    text += "\nin a checkout\n";
    for (const auto& [name, summary] : checkout) text += fmt::format("  {:<14} {}\n", name, summary);
    text +=
        "\nexamples:\n"
        "  strata characterize\n      measure this machine for up to five minutes and leave a report\n"
        "  strata launch --layout 2x4 -- ./a.out\n      two processes of four threads, each thread on its "
        "own core\n"
        "  strata bench stream --layout 1x2\n      STREAM on two bound threads\n"
        "\nstrata COMMAND --help has the options and more examples. Documentation: docs/, or ./strata "
        "docs.\nstrata --version, and strata --cmake-prefix: the folder for CMAKE_PREFIX_PATH, with which "
        "find_package(strata) finds this Strata.\n";
    std::fputs(text.c_str(), stdout);
}

/// Programs that these start say so themselves, or say what they like.
bool says_in_all(const std::string& name) {
    return name != "launch" && name != "bench" && name != "run" && name != "replay";
}

/// An error as it is printed: for a person, or for a program that has set STRATA_ERRORS=json. A person is
/// told before it how long the command took, since the error is to be the last that is read; not after wrong
/// input, which is refused before the command begins.
std::string printed(const Error& error, const std::string& name) {
    const char* form = std::getenv("STRATA_ERRORS");
    if (form != nullptr && std::string_view(form) == "json") return error.json();
    return (error.exit_code() != kBadInput && says_in_all(name) ? in_all_line() : "") + error.text();
}

/// A rank's launcher that fails is read to the end before MPI's launcher ends all ranks.
void let_launcher_read() {
    if (std::getenv("PMIX_NAMESPACE") != nullptr)
        wait_until_read(STDERR_FILENO, std::chrono::milliseconds(500));
}

int run(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "--help";
    if (name == "--help" || name == "-h" || name == "help") {
        print_help();
        return kSuccess;
    }
    if (name == "--version") {
        fmt::print("strata {}\n", STRATA_VERSION);
        return kSuccess;
    }
    if (name == "--cmake-prefix") {
        fmt::print("{}\n", cmake_prefix());
        return kSuccess;
    }
    const auto found =
        std::find_if(commands().begin(), commands().end(), [&](const Command& c) { return name == c.name; });
    if (found == commands().end()) {
        std::vector<std::string> names;
        for (const Command& command : commands())
            if (command.group != nullptr) names.emplace_back(command.name);
        const std::string near = nearest(name, names);
        throw Error("unknown command")
            .given(name)
            .allowed(fmt::format("{}", fmt::join(names, ", ")))
            .remedy(near.empty() ? "strata --help" : "strata " + near);
    }
    if (found->native != nullptr) return found->native(argc - 1, argv + 1);
    run_python(std::vector<std::string>(argv + 1, argv + argc));
}

}  // namespace
}  // namespace strata::cli

int main(int argc, char** argv) {
    strata::cli::recall(argv, argc > 1 ? argv[1] : nullptr);
    try {
        if (argc > 1) strata::cli::remember_words(argc, argv);
        const int status = strata::cli::run(argc, argv);
        strata::cli::flush_output();
        if (status == strata::kSuccess && argc > 1 && strata::cli::says_in_all(argv[1]))
            std::fputs(strata::in_all_line().c_str(), stderr);
        return status;
    } catch (const strata::Error& error) {
        std::fflush(stdout);
        std::fputs(strata::cli::printed(error, argc > 1 ? argv[1] : "").c_str(), stderr);
        strata::cli::let_launcher_read();
        return error.exit_code();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "strata: error: %s\n", strata::reason_of(error).c_str());
        strata::cli::let_launcher_read();
        return strata::kFailure;
    }
}
