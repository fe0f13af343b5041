#include "core/run/driver/replay_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/base/text.hpp"
#include "core/run/output/series.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

/// The last step of which the run's folder knows.
std::int64_t last_step(const fs::path& run, const RunRecord& record) {
    if (record.ended >= 0) return record.ended;
    std::int64_t last = std::max(record.legs.back().step, Series::last_step(run / "series.csv"));
    for (const std::int64_t step : record.checkpoints) last = std::max(last, step);
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(run / "fields", none)) {
        if (entry.path().extension() != ".series") continue;
        for (const std::string& name : listed_fields(entry.path()))
            last = std::max(last, step_of_field(name));
    }
    return last;
}

bool is_column(const LabelInfo& label) {
    return label.kind == Kind::scalar && label.element == Element::f64 && label.components == 1;
}

/// Whether each row has it anyway.
bool in_series(const Solver& solver, LabelId label) {
    if (solver.time.id() == label) return true;
    return std::any_of(solver.series.begin(), solver.series.end(),
                       [&](const auto& scalar) { return scalar.id() == label; });
}

const char* kind_text(const LabelInfo& label) {
    if (label.kind == Kind::scalar) return "one number a step, in series.csv";
    if (label.kind == Kind::particles) return "on particles";
    if (label.kind == Kind::list) return "a list of a shape";
    return label.on == On::cells ? "on cells" : label.on == On::nodes ? "on nodes" : "on faces";
}

/// The parts of "a,b", where names that are known may have commas: the longest one that fits is meant.
std::vector<std::string> names_in(std::string_view text, const std::vector<std::string>& known) {
    std::vector<std::string> names;
    while (!text.empty()) {
        std::string_view name = text.substr(0, text.find(','));
        for (const std::string& one : known)
            if (one.size() > name.size() && text.starts_with(one) &&
                (text.size() == one.size() || text[one.size()] == ','))
                name = one;
        names.emplace_back(text.substr(0, name.size()));
        text.remove_prefix(std::min(text.size(), name.size() + 1));
    }
    return names;
}

/// As LabelOptions::kept, for a label that was declared without it. Not in Graph: a solver has no use for it.
void keep(Graph& graph, LabelId label) { const_cast<LabelInfo&>(graph.labels()[label]).kept = true; }

/// All that --add takes.
std::vector<LabelId> addable(const Graph& graph, const Resolved& resolved, const Solver& solver) {
    std::vector<LabelId> all;
    if (can_write_fields()) all = showable(graph, resolved, solver.shapes);
    for (const LabelInfo& label : graph.labels())
        if (is_column(label) && std::any_of(resolved.storages.begin(), resolved.storages.end(),
                                            [&](const Storage& s) { return s.holds(label.id); }))
            all.push_back(label.id);
    return all;
}

}  // namespace

std::int64_t step_of_field(const std::string& name) {
    const std::size_t dash = name.rfind('-');
    if (dash == std::string::npos) return -1;
    std::string_view step = std::string_view(name).substr(dash + 1);
    return take_number<std::int64_t>(step).value_or(-1);
}

ReplayPlan plan_replay(const CommandLine& command_line, const Build& build) {
    ReplayPlan plan;
    plan.wish = *command_line.replay;
    const ReplayWish& wish = plan.wish;
    plan.record = read_history(wish.run);
    if (wish.list) {
        plan.leg = plan.record.legs.back();
        return plan;
    }
    const std::int64_t first = plan.record.legs.front().step, last = last_step(wish.run, plan.record);
    if (wish.from < first || wish.to > last) {
        Error error("the run has no such steps");
        error.at(wish.run.string()).given(fmt::format("--steps {}:{}", wish.from, wish.to));
        error.allowed(fmt::format("{} to {}", first, last));
        if (first > 0)
            error.remedy("steps before are in " +
                         fs::path(plan.record.legs.front().checkpoint).parent_path().string() +
                         ", from where it went on");
        throw error;
    }
    plan.leg = plan.record.leg_of(wish.from);
    plan.out =
        command_line.out ? *command_line.out : wish.run / fmt::format("replay-{}-{}", wish.from, wish.to);
    if (fs::exists(plan.out))
        throw Error("there is a replay already, or something else")
            .at(plan.out.string())
            .remedy("remove it, or choose another folder: --out FOLDER");
    plan.now = own_identity(build.sources);
    expect_same_identity(plan, std::max<std::int64_t>(wish.from - 1, first), plan.now);
    return plan;
}

void expect_same_identity(const ReplayPlan& plan, std::int64_t after, const Identity& now) {
    const std::vector<RunLeg>& legs = plan.record.legs;
    for (std::size_t i = 0; i < legs.size(); ++i) {
        const std::int64_t end = i + 1 < legs.size() ? legs[i + 1].step : plan.wish.to;
        if (legs[i].step >= plan.wish.to || end <= after) continue;
        // A restart may end the case elsewhere; the last step of a run may be shorter than others.
        if (legs[i].case_hash != plan.leg.case_hash)
            throw Error(fmt::format("a restart changed the case at step {}: steps before and after it are "
                                    "replayed apart",
                                    std::max(legs[i].step, plan.leg.step)))
                .at(plan.wish.run.string())
                .given(fmt::format("steps {} to {}, computed from the state after step {}", plan.wish.from,
                                   plan.wish.to, after))
                .allowed(
                    fmt::format("windows up to step {0}, or from step {0} on where a checkpoint of it is "
                                "there",
                                std::max(legs[i].step, plan.leg.step)));
        const std::string differs = difference(legs[i].identity, now);
        if (differs.empty()) continue;
        throw Error(fmt::format("steps {} to {} were computed {}: their bits may be others here",
                                std::max(legs[i].step, after) + 1, std::min(end, plan.wish.to), differs))
            .at(plan.wish.run.string())
            .remedy(
                "replay with the program of then, on a processor of that kind; or compute on with this one: "
                "strata run CASE --restart RUN --out ANOTHER");
    }
}

void add_labels(ReplayPlan& plan, Graph& graph, const Solver& solver) {
    plan.fields.clear(), plan.columns.clear(), plan.kept.clear();
    const Resolved resolved = resolve(graph);
    const std::vector<LabelId> all = addable(graph, resolved, solver);
    std::vector<std::string> names;
    for (const LabelId label : all) names.push_back(graph.labels()[label].name);
    for (const std::string& name : names_in(plan.wish.add, names)) {
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end()) {
            const std::string near = nearest(name, names);
            throw Error("the run has nothing of this name at the end of a step")
                .given("--add " + name)
                .allowed(fmt::format("{}", fmt::join(names, ", ")))
                .remedy(near.empty() ? "--add help says what each of them is" : near + "?");
        }
        const LabelInfo& label = graph.labels()[all[static_cast<std::size_t>(found - names.begin())]];
        if (is_column(label)) {
            if (!in_series(solver, label.id)) plan.columns.emplace_back(label.id);
            plan.from_a_step = true;
            continue;
        }
        plan.fields.push_back(label.id);
        if (is_kept(resolved, label.id)) continue;
        keep(graph, label.id);
        plan.kept.push_back(name);
        plan.from_a_step = true;
    }
    if (plan.from_a_step && plan.wish.from <= plan.record.legs.front().step)
        throw Error("before its first step the run has not made what is added")
            .given(fmt::format("--steps {}:{} --add {}", plan.wish.from, plan.wish.to, plan.wish.add))
            .allowed(fmt::format("from step {} on", plan.record.legs.front().step + 1));
}

std::string addable_text(const Graph& graph, const Resolved& resolved, const Solver& solver,
                         const std::vector<ShownFile>& shown) {
    std::string text = "what --add takes, with * where a replay shows it anyway:\n";
    for (const LabelId id : addable(graph, resolved, solver)) {
        const LabelInfo& label = graph.labels()[id];
        bool there = in_series(solver, id);
        for (const ShownFile& file : shown)
            for (const ShownFile::Array& array : file.arrays) there = there || array.label == id;
        text += fmt::format("  {} {:<24} {}{}{}\n", there ? '*' : ' ',
                            label.name + (label.unit.empty() ? "" : " [" + label.unit + "]"),
                            kind_text(label), label.about.empty() ? "" : ": ", label.about);
    }
    return text;
}

fs::path partial_replay(const fs::path& out) {
    return out.parent_path() / fmt::format(".{}.partial", out.filename().string());
}

}  // namespace strata::graph
