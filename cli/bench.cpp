// strata bench: one verified benchmark, alone or under a layout.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/elsewhere.hpp"
#include "cli/bench.hpp"
#include "cli/commands.hpp"
#include "cli/programs.hpp"
#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/launch/layout.hpp"

namespace strata::cli {
namespace {

/// These exchange messages, so they exist only in the program that links MPI.
constexpr std::array kMessagePassing = {"pingpong",  "rings",    "ptrans",      "mpifft",
                                        "allreduce", "alltoall", "message-rate"};

/// These run over MPI, and over a team of processes that share memory (--model).
constexpr std::array kInTeams = {"hpl"};

/// The layout of a message-passing benchmark when none was asked for: the fewest that can exchange.
constexpr const char* kSmallestPair = "2x1";

Options declare() {
    Options options("strata bench",
                    "Runs one verified benchmark. Options not listed here go to it: strata bench NAME --help "
                    "shows them.");
    options.positional("NAME", "the benchmark; --list names them")
        .flag("--list", "the benchmarks, a line each")
        .option("--layout", "PxT", "",
                "processes x threads; without it one process, or two for those that exchange messages")
        .option("--stride", "N", "1", "cores from one thread to the next")
        .option("--bind", "core|none", "core", "hold threads on their cores, or leave them to the system")
        .option("--model", "NAME", "", "for hpl: mpi or team (processes that share memory)")
        .example("strata bench --list", "what there is")
        .example("strata bench stream --layout 1x2", "STREAM on two bound threads")
        .example("strata bench npb mg --class B --layout 1x2",
                 "of the NAS Parallel Benchmarks; strata bench npb --list")
        .example("strata bench npb-mz bt --class A --layout 2x1",
                 "and of their multi-zone versions; strata bench npb-mz --list")
        .example("strata bench rings --layout 2x1 --json rings.json",
                 "natural and random ring of two processes");
    return options;
}

std::string program(const std::string& name) {
    if (auto found = find_program(name)) return *found;
    throw Error(fmt::format("{} is not built", name), kFailure)
        .remedy(name == "strata-bench-mpi"
                    ? "strata doctor says how to get an MPI; then ./strata setup builds it"
                    : "strata doctor");
}

/// Takes Strata's own options out of the arguments; what remains is the benchmark's name and its options.
struct BenchArguments {
    std::vector<std::string> own, benchmark;
};
BenchArguments split(int argc, char** argv) {
    BenchArguments arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const std::string name = word.substr(0, word.find('='));
        if (name == "--layout" || name == "--stride" || name == "--bind") {
            arguments.own.push_back(word);
            if (name == word && i + 1 < argc) arguments.own.emplace_back(argv[++i]);
        } else {
            arguments.benchmark.push_back(word);
        }
    }
    return arguments;
}

/// Which program runs a benchmark over several processes, or, where a model is named, over one.
std::string program_of_model(const std::string& model, bool several) {
    if (model == "team") return program("strata-bench-team");
    if (!model.empty() && model != "mpi")
        throw Error("unknown programming model").given(model).allowed("mpi, team");
    const bool messages = model == "mpi" || is_rank() || find_program("strata-bench-mpi");
    if (several) return program(messages ? "strata-bench-mpi" : "strata-bench-team");
    return program(model.empty() ? "strata-bench" : "strata-bench-mpi");
}

bool is_name(const std::string& word) { return !word.empty() && word.front() != '-'; }

}  // namespace

bool is_rank() {
    const auto set = [](const char* name) { return std::getenv(name) != nullptr; };
    return set("OMPI_COMM_WORLD_SIZE") || set("PMI_SIZE") || set("PMIX_RANK") || set("STRATA_SIZE");
}

int bench_command(int argc, char** argv) {
    const Options options = declare();
    BenchArguments arguments = split(argc, argv);
    if (arguments.benchmark.empty() || arguments.benchmark.front() == "--help" ||
        arguments.benchmark.front() == "-h") {
        std::fputs(options.help().c_str(), stdout);
        return arguments.benchmark.empty() ? kBadInput : kSuccess;
    }
    if (arguments.benchmark.front() == "npb" || arguments.benchmark.front() == "npb-mz")
        return npb_command(arguments.benchmark.front(), arguments.own,
                           {arguments.benchmark.begin() + 1, arguments.benchmark.end()});
    if (arguments.benchmark.front() == "--list") {
        // The program with MPI knows all of them; without it, those that need no messages.
        std::vector<std::string> command = {find_program("strata-bench-mpi").value_or("")};
        if (command.front().empty()) command.front() = program("strata-bench");
        command.insert(command.end(), arguments.benchmark.begin(), arguments.benchmark.end());
        become(command);
    }
    if (!is_name(arguments.benchmark.front())) {
        throw Error("the benchmark's name comes first")
            .given(arguments.benchmark.front())
            .remedy("strata bench --list");
    }
    const bool in_teams =
        std::find(kInTeams.begin(), kInTeams.end(), arguments.benchmark.front()) != kInTeams.end();
    const std::string model = in_teams ? take(arguments.benchmark, "--model").value_or("") : "";
    const Parsed own = options.parse([&] {
        std::vector<std::string> list = arguments.own;
        list.push_back(arguments.benchmark.front());
        return list;
    }());
    const bool messages = std::find(kMessagePassing.begin(), kMessagePassing.end(),
                                    arguments.benchmark.front()) != kMessagePassing.end();
    std::string layout = own.text("--layout");
    if (layout.empty() && messages && !is_rank()) layout = kSmallestPair;
    if (layout.empty() && (own.has("--stride") || own.has("--bind"))) {
        throw Error("a stride or a binding belongs to a layout")
            .given(own.has("--stride") ? "--stride without --layout" : "--bind without --layout")
            .remedy(fmt::format("strata bench {} --layout 1x1 ...", arguments.benchmark.front()));
    }
    const launch::Layout laid_out = layout.empty() ? launch::Layout{} : launch::parse_layout(layout);
    const bool several = laid_out.processes > 1;
    const bool of_graph = std::any_of(bench::kOfGraph.begin(), bench::kOfGraph.end(), [&](const auto& other) {
        return arguments.benchmark.front() == other.name;
    });
    if (of_graph && several)
        throw Error(fmt::format("{} measures one process", arguments.benchmark.front()))
            .given(fmt::format("--layout {}", layout))
            .allowed("1xT")
            .remedy(fmt::format("strata bench {} --layout 1x{}", arguments.benchmark.front(),
                                laid_out.processes * laid_out.threads));
    std::vector<std::string> command = {in_teams ? program_of_model(model, several)
                                                 : program(of_graph              ? "strata-bench-graph"
                                                           : messages || several ? "strata-bench-mpi"
                                                                                 : "strata-bench")};
    command.insert(command.end(), arguments.benchmark.begin(), arguments.benchmark.end());
    if (layout.empty()) become(command);
    return launch_laid_out(layout, own, command);
}

}  // namespace strata::cli
