#include "core/run/driver/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "core/base/error.hpp"
#include "core/base/reason.hpp"
#include "core/graph/resolve/describe.hpp"
#include "core/run/case/former.hpp"
#include "core/run/checkpoint/state.hpp"
#include "core/run/driver/command_line.hpp"
#include "core/run/driver/replay.hpp"
#include "core/run/driver/replay_plan.hpp"
#include "core/run/driver/restart.hpp"
#include "core/run/driver/run.hpp"
#include "core/run/driver/showing.hpp"
#include "core/run/profile/phases.hpp"
#include "core/team/text_from.hpp"

namespace strata::graph {

Findings Findings::of(std::vector<Verification> criteria, std::vector<Figure> further) {
    const auto beyond = [](const Verification& check) {  // 1: at its limit
        if (!check.absent.empty() || !std::isfinite(check.value)) return HUGE_VAL;
        if (check.limit > 0) return check.value / check.limit;
        return check.value > check.limit ? HUGE_VAL : 0.0;
    };
    const auto nearer = [&](const Verification& a, const Verification& b) { return beyond(a) < beyond(b); };
    Findings found(*std::max_element(criteria.begin(), criteria.end(), nearer), std::move(further));
    if (criteria.size() > 1) found.source += fmt::format("; the worst of {}", criteria.size());
    found.criteria = std::move(criteria);
    return found;
}

namespace {

/// Several members may fail at the same time, e.g. each with an unstable patch. Then one member of a node
/// reports its error, and the others end with it.
void leave_it_to_the_first(team::Team& team) {
    auto failed = team.arena().array<std::atomic<std::uint32_t>>("graph.failed", 1);
    if (failed[0].exchange(1) != 0) team.node_barrier();
}

/// The part of a run's history that is known before it begins.
RunLeg leg_of(const CaseSchema& schema, const CommandLine& command_line, const Build& build) {
    namespace fs = std::filesystem;
    RunLeg leg;
    leg.solver = schema.solver();
    leg.program = build.sources.empty() ? fs::read_symlink("/proc/self/exe").string()
                                        : fs::absolute(build.sources.front()).string();
    leg.case_file = fs::absolute(command_line.case_file).string();
    leg.case_text = schema.text();
    leg.case_hash = schema.hash();
    leg.folder = fs::current_path().string();
    leg.identity = own_identity(build.sources);
    return leg;
}

/// All that is known before the members start.
struct Order {
    CommandLine command_line;
    OutputSettings output;
    bool balance = true;
    ReplayPlan plan;
    std::vector<std::string> damaged;  // checkpoints that a restart passes over
    std::string done_before;           // why a restart has nothing left to do, for the user; or ""
};

int run_member(team::Team& team, CaseSchema& schema, const Order& order,
               const std::function<Solver(Graph&)>& declare, const Build& build, Phases& phases) {
    const CommandLine& command_line = order.command_line;
    phases.enter("plan");
    Graph graph(schema.solver());
    const Solver solver = declare(graph);
    RunLeg leg;
    if (command_line.out && team.rank() == 0) leg = leg_of(schema, command_line, build);
    Run run(team, graph, solver, schema, command_line, order.output, order.balance, leg, phases);
    run.go();
    RunResult result = run.result(build);
    run.write_observed();
    if (team.rank() == 0) {
        result.phases = phases.until_now();
        if (command_line.out) write_result(*command_line.out, result);
        std::fputs(result_text(result).c_str(), stdout);
        std::fflush(stdout);
    }
    // A run that was asked to stop early has not failed.
    return result.verification.passed() || !result.not_compared.empty() ? kSuccess : kFailure;
}

int replay_member(team::Team& team, const CaseSchema& schema, const Order& order,
                  const std::function<Solver(Graph&)>& declare, Phases& phases) {
    phases.enter("plan");
    Graph graph(schema.solver());
    const Solver solver = declare(graph);
    ReplayPlan plan = order.plan;
    add_labels(plan, graph, solver);
    Replay(team, graph, solver, schema, std::move(plan), order.output, order.balance,
           order.command_line.quiet, phases)
        .go();
    return kSuccess;
}

/// What one member does; its exit code.
int follow(team::Team& team, CaseSchema& schema, const Order& order,
           const std::function<Solver(Graph&)>& declare, const Build& build, Phases& phases) {
    for (const std::string& each : order.damaged)
        if (team.rank() == 0) fmt::print(stderr, "a checkpoint is passed over: {}\n", each);
    // Member 0 decides: a network file system may show the others another folder for a while.
    const std::string nothing_to_do =
        order.command_line.restart ? team::text_from(team, 0, order.done_before) : "";
    if (!nothing_to_do.empty()) {
        if (team.rank() == 0) std::fputs(nothing_to_do.c_str(), stdout);
        return kSuccess;
    }
    if (order.command_line.replay) return replay_member(team, schema, order, declare, phases);
    return run_member(team, schema, order, declare, build, phases);
}

/// Refuses fields that cannot be written, before anything starts.
void check_output(const Graph& graph, const Resolved& resolved, const Solver& solver,
                  const CaseSchema& schema, const CommandLine& command_line, const OutputSettings& output) {
    (void)shown_files(graph, resolved, solver, schema, output);
    if (!command_line.out || !output.asked() || can_write_fields()) return;
    Error error("this build cannot write fields for ParaView: it was made without HDF5");
    error.given(command_line.fields ? fmt::format("--fields {}", *command_line.fields)
                                    : fmt::format("[output] in {}", command_line.case_file));
    throw error.remedy("Debian, Ubuntu: sudo apt-get install libhdf5-dev, then strata setup; or --fields 0");
}

/// What the folder of a restart says of it.
void look_back(const CaseSchema& schema, const Solver& solver, Order& order) {
    const CommandLine& command_line = order.command_line;
    expect_checkpoint(*command_line.restart);
    // Where none can be opened, the run itself says why.
    if (const auto state = CheckpointReader::latest(*command_line.restart, &order.damaged)) {
        expect_case(schema, *state);
        order.done_before = nothing_left(schema, solver, *state, command_line.steps, command_line.out);
    }
}

/// Reads the command line and the case, and reports what is wrong with them before anything starts. False
/// where the command line asks for no run: then it has been answered.
bool prepare(const std::vector<std::string>& words, int argc, char** argv, CaseSchema& schema,
             const std::function<Solver(Graph&)>& declare, const Build& build, Order& order) {
    CommandLine& command_line = order.command_line;
    order.output.declare(schema);
    schema.key("run.balance", &order.balance,
               {.decides = false,
                .meaning = "patches move between processes by measured cost; the values are the same"});
    const std::optional<CommandLine> read = read_command_line(argc, argv, schema);
    if (!read) return false;
    command_line = *read;
    if (command_line.rewrite) {
        std::fputs(rewrite_case(schema, command_line.case_file).c_str(), stdout);
        return false;
    }
    if (command_line.replay) {
        order.plan = plan_replay(command_line, build);
        schema.read_text(order.plan.leg.case_text, order.plan.leg.case_file);
    } else {
        schema.read(command_line.case_file);
    }
    Graph graph(schema.solver());
    const Solver solver = declare(graph);
    if (command_line.replay && !command_line.replay->list) add_labels(order.plan, graph, solver);
    const Resolved resolved = resolve(graph);
    if (command_line.fields) order.output = {*command_line.fields, 0, order.output.fields};
    if (command_line.replay && command_line.replay->list) {
        const auto shown = shown_files(graph, resolved, solver, schema, order.output);
        std::fputs(addable_text(graph, resolved, solver, shown).c_str(), stdout);
        return false;
    }
    check_output(graph, resolved, solver, schema, command_line, order.output);
    if (command_line.restart) look_back(schema, solver, order);
    if (command_line.graph) {
        describe(graph, resolved, std::cout);
        std::cout.flush();
        return false;
    }
    if (command_line.counters) prepare_counting(*command_line.counters, build.simulable, words);
    return true;
}

}  // namespace

int drive(int argc, char** argv, CaseSchema& schema, const std::function<Solver(Graph&)>& declare,
          const Build& build, const std::vector<std::string>& start) {
    Phases phases;
    Order order;
    std::vector<std::string> words = start.empty() ? std::vector<std::string>(argv, argv + argc) : start;
    // A file at its size limit is an error with the file's name. Without this the signal would end the
    // process.
    ::signal(SIGXFSZ, SIG_IGN);
    try {
        if (!prepare(words, argc, argv, schema, declare, build, order)) return kSuccess;
    } catch (const Error& error) {
        std::fputs(error.text().c_str(), stderr);
        return error.exit_code();
    } catch (const std::exception& error) {  // a case that no memory holds
        std::fputs(Error(reason_of(error), kFailure).at(order.command_line.case_file).text().c_str(), stderr);
        return kFailure;
    }
    std::vector<char*> again;
    for (std::string& word : words) again.push_back(word.data());
    return team::run(static_cast<int>(again.size()), again.data(), [&](team::Team& team) {
        try {
            return follow(team, schema, order, declare, build, phases);
        } catch (const team::MemberLost&) {
            if (order.command_line.out && !order.command_line.replay)
                Control::sweep(*order.command_line.out);  // if member 0 was lost
            throw;
        } catch (...) {
            leave_it_to_the_first(team);
            throw;
        }
    });
}

}  // namespace strata::graph
