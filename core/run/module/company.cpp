#include "core/run/module/company.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/steps.hpp"
#include "core/run/module/company_solver.hpp"

namespace strata::graph {

int drive(Module& module, int argc, char** argv, const Build& build) {
    const Module::About about = module.about();
    CaseSchema keys(about.solver, about.summary);
    module.keys(keys);
    bool prepared = false;
    return drive(
        argc, argv, keys,
        [&](Graph& graph) {
            if (!std::exchange(prepared, true)) module.prepare(keys);
            const ModuleGraph alone(graph);
            module.labels(alone);
            return module.declare(alone);
        },
        build);
}

void ModuleGraph::stage(const std::string& name) const {
    if (company_ != nullptr) company_->stage(*graph_, name_, name);
}

void ModuleGraph::at_stage(const std::string& module, const std::string& stage,
                           std::function<void()> declare) const {
    if (company_ == nullptr) refuse_other(module);
    company_->asked_.push_back({name_, module, stage, std::move(declare)});
}

Module* ModuleGraph::find(const std::string& name) const {
    for (std::size_t m = 0; company_ != nullptr && m < company_->named_; ++m)
        if (company_->members_[m].name == name) return company_->members_[m].module.get();
    return nullptr;
}

void ModuleGraph::refuse_other(const std::string& name) const {
    std::vector<std::string> there;
    for (std::size_t m = 0; company_ != nullptr && m < company_->named_; ++m)
        there.push_back(company_->members_[m].name);
    throw Error(fmt::format("'{}' asks for a module that is not there before it", name_))
        .given(name)
        .allowed(there.empty() ? "none: it is the first" : fmt::format("{}", fmt::join(there, ", ")))
        .remedy("Company::add() adds modules in their order; one name stands for one type");
}

Company& Company::add(std::string name, std::unique_ptr<Module> module) {
    const bool plain = !name.empty() &&
                       name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos;
    const bool taken = std::any_of(members_.begin(), members_.end(),
                                   [&](const Member& member) { return member.name == name; });
    // Sections that every case has.
    const bool of_all = name == "time" || name == "output" || name == "run";
    if (!plain || taken || of_all)
        throw Error(fmt::format("a module of '{}' cannot have this name", about_.solver))
            .given(fmt::format("'{}'{}", name, taken ? ", which another one has" : ""))
            .allowed("small letters, digits, '-' and '_', but not time, output or run");
    members_.push_back({std::move(name), std::move(module), {}});
    return *this;
}

void Company::keys(CaseSchema& keys) {
    for (Member& member : members_) {
        const CaseSchema::Under own = keys.under(member.name);
        keys.key(
            "substeps", &member.steps.substeps,
            {.least = 1,
             .most = 1'000'000,
             .meaning = "steps of its own that a common step is long at most; 1: it takes common steps"});
        keys.key("rest", &member.steps.rest,
                 {.least = 1, .most = 1'000'000, .meaning = "it acts once in so many common steps"});
        member.module->keys(keys);
    }
}

void Company::prepare(const CaseSchema& keys) {
    for (Member& member : members_) {
        const CaseSchema::Under own = keys.under(member.name);
        member.module->prepare(keys);
    }
}

Company::Part Company::part_of(Graph& graph, const Member& member, const CommonClock& clock) const {
    const GraphPart own(graph, member.name, graph.step());
    if (!member.steps.own()) return {graph.step().id(), {}};
    Scope* step = &graph.step();
    if (member.steps.rest > 1) {
        const auto acts = graph.scalar<std::int32_t>("acts", {.about = "1: in this common step"});
        Task task = step->once("act or rest");
        const auto time = task.need(clock.labels.time);
        task.run([=, now = task.make(acts), rest = member.steps.rest, end = clock.end](Here& here) {
            here[now] = here.step % rest == 0 || reached(here[time], *end) ? 1 : 0;
        });
        step = &step->when<std::int32_t>("acting", acts, [](std::int32_t now) { return now != 0; });
    }
    const auto left =
        graph.scalar<double>("left of the step", {.unit = "s", .about = "of the common one, after the own"});
    return {step->repeat<double>(
                    "own steps", left, [](double rest) { return rest <= 0; }, member.steps.most())
                .id(),
            left};
}

Solver Company::declare(Graph& graph, const CaseSchema& keys) {
    graph.in_program_order();
    asked_.clear(), stages_.clear(), named_ = 0;
    CommonClock clock(graph);
    std::vector<ModuleGraph> graphs;
    std::vector<Part> parts;
    for (Member& member : members_) {
        parts.push_back(part_of(graph, member, clock));
        graphs.emplace_back(graph, ModuleClock(graph, member.name, clock, member.steps, parts.back().left),
                            member.name, *this);
    }
    const auto within = [&](std::size_t m, const auto& call) {
        const CaseSchema::Under own = keys.under(members_[m].name);
        const GraphPart part(graph, members_[m].name, graph.scopes()[parts[m].step]);
        call(*members_[m].module, graphs[m]);
    };
    for (std::size_t m = 0; m < members_.size(); ++m, ++named_)
        within(m, [](Module& module, const ModuleGraph& part) { module.labels(part); });
    CompanySolver all(clock.labels.time);
    for (std::size_t m = 0; m < members_.size(); ++m)
        within(m, [&](Module& module, const ModuleGraph& part) {
            all.add(members_[m].name, module.declare(part));
            const OwnSteps& steps = members_[m].steps;
            if (steps.own() && !part.clock().advanced())
                keys.refuse(
                    steps.substeps > 1 ? "substeps" : "rest",
                    fmt::format("'{}' has no clock, so it takes no steps of its own", members_[m].name), "1");
        });
    expect_met();
    *clock.end = all.end();
    advance_common(clock);
    return std::move(all).solver();
}

void Company::stage(Graph& graph, const std::string& module, const std::string& stage) {
    stages_.emplace_back(module, stage);
    for (Asked& asked : asked_) {
        if (asked.module != module || asked.stage != stage) continue;
        asked.met = true;
        const GraphPart part(graph, asked.by, graph.step());
        asked.declare();
    }
}

void Company::expect_met() const {
    for (const Asked& asked : asked_) {
        if (asked.met) continue;
        std::vector<std::string> there;
        for (const auto& [module, stage] : stages_)
            there.push_back(fmt::format("'{}' of '{}'", stage, module));
        throw Error(fmt::format("'{}' asks for a stage that no module comes to", asked.by))
            .given(fmt::format("'{}' of '{}'", asked.stage, asked.module))
            .allowed(fmt::format("{}", fmt::join(there, ", ")));
    }
}

int Company::drive(int argc, char** argv, const Build& build) {
    CaseSchema all(about_.solver, about_.summary);
    keys(all);
    bool prepared = false;
    return graph::drive(
        argc, argv, all,
        [&](Graph& graph) {
            if (!std::exchange(prepared, true)) prepare(all);
            return declare(graph, all);
        },
        build);
}

}  // namespace strata::graph
