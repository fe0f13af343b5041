#include "core/run/driver/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <span>

#include "core/base/error.hpp"
#include "core/base/private_folder.hpp"
#include "core/base/steps.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/run/checkpoint/state.hpp"
#include "core/run/driver/restart.hpp"
#include "core/team/text_from.hpp"

namespace strata::graph {

namespace {

/// The wanted duration of a batch, in s: requests are answered between batches.
constexpr double kBatch = 0.1;

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Steps until the next multiple of `every`.
std::int64_t until_multiple(std::int64_t step, std::int64_t every) {
    return every > 0 ? every - step % every : std::int64_t{1} << 40;
}

/// Cells of the largest family, to which rates refer.
double cells_of(const Graph& graph) {
    double most = 0;
    for (const auto& family : graph.families())
        if (const auto* grid = dynamic_cast<const Grid*>(family.get())) {
            double cells = 0;
            for (int p = 0; p < grid->patches(); ++p) cells += static_cast<double>(grid->box(p).volume());
            most = std::max(most, cells);
        }
    return most;
}

/// The present number of particles of all sets and processes. Collective.
double particles_of(const Simulation& simulation, const Graph& graph, team::Team& team) {
    const Plan& plan = simulation.plan();
    const Populations& all = plan.memory().populations();
    std::vector<double> mine;
    for (const SetId set : graph.particle_sets().ids()) {
        const std::size_t patches = plan.memory().patches()[all.family(set)].size();
        for (int local = 0; local < static_cast<int>(patches); ++local)
            mine.push_back(static_cast<double>(all.own(set, local).count));
    }
    return team.together().sum(mine);
}

/// [process]. Collective.
std::vector<RunBytes> bytes_of_all(const RunBytes& mine, team::Team& team) {
    const auto size = static_cast<std::size_t>(team.size()), rank = static_cast<std::size_t>(team.rank());
    std::vector<std::int64_t> numbers(4 * size, 0);
    numbers[4 * rank] = static_cast<std::int64_t>(mine.values);
    numbers[4 * rank + 1] = static_cast<std::int64_t>(mine.copies);
    numbers[4 * rank + 2] = static_cast<std::int64_t>(mine.runtime.value_or(0));
    numbers[4 * rank + 3] = mine.runtime ? 1 : 0;
    team.together().reduce(std::span(numbers), [](std::int64_t a, std::int64_t b) { return a + b; });
    std::vector<RunBytes> all(size);
    for (std::size_t p = 0; p < size; ++p) {
        all[p].values = static_cast<std::uint64_t>(numbers[4 * p]);
        all[p].copies = static_cast<std::uint64_t>(numbers[4 * p + 1]);
        if (numbers[4 * p + 3] != 0) all[p].runtime = static_cast<std::uint64_t>(numbers[4 * p + 2]);
    }
    return all;
}

void make_folder(const std::filesystem::path& folder) {
    if (const std::error_code error = make_results_folder(folder))
        throw system_error("the folder of the results cannot be made", error.value())
            .at(folder.string())
            .remedy("--out FOLDER names another one");
}

}  // namespace

Run::Run(team::Team& team, Graph& graph, const Solver& solver, const CaseSchema& schema,
         const CommandLine& command_line, const OutputSettings& output, bool balance, const RunLeg& leg,
         Phases& phases)
    : team_(team),
      graph_(graph),
      solver_(solver),
      schema_(schema),
      words_(command_line),
      phases_(phases),
      counting_(command_line.counters ? make_counting(*command_line.counters) : nullptr),
      recording_(kRecords),
      simulation_(graph, Members::of(team), options(balance)),
      output_(output),
      leg_(leg) {}

SimulationOptions Run::options(bool balance) {
    SimulationOptions options;
    // Under simulation times are not those of this machine.
    options.balance = balance && !(words_.counters && words_.counters->simulated);
    options.crew = &team_.crew();
    options.meter = counting_.get();
    if (!words_.profile && !words_.timeline) return options;
    options.records = kRecords;
    options.before_replacing = [this] { recording_.take(simulation_); };
    return options;
}

bool Run::ended() const {
    if (simulation_.step() == 0) return false;
    if (solver_.done.id()) return simulation_.value(solver_.done) != 0;
    return solver_.time.id() && reached(time(), solver_.end);
}

bool Run::over() const { return (words_.steps && simulation_.step() >= *words_.steps) || ended(); }

void Run::begin() {
    phases_.enter(words_.restart ? "restart" : "start values");
    if (words_.restart) {
        const auto from = restore_state(simulation_, graph_, team_, *words_.restart, state_name(schema_));
        int parts = 0;
        restarted_time_ = read_head(from / "checkpoint.json", parts).time;
        restarted_from_ = from.string();
    } else {
        simulation_.start();
    }
    first_step_ = simulation_.step();
    phases_.enter("between steps");
    // Not earlier: a run that could not begin leaves no folder behind.
    if (words_.out && team_.rank() == 0) make_folder(*words_.out);
    if (words_.out && output_.asked()) {
        shown_files_ = shown_files(graph_, simulation_.resolved(), solver_, schema_, output_);
        shown_times_.emplace(output_, time());
        if (team_.rank() == 0)
            begin_shown(shown_files_, *words_.out / "fields", words_.restart.has_value(), shown_time());
    }
    if (words_.out)
        for (const auto& frames : solver_.frames)
            frames->begin(simulation_, team_, *words_.out, frames->every(), words_.restart.has_value());
    stop_in_time();
    if (team_.rank() != 0) return;
    std::string first_line = solver_.first_line && !words_.quiet ? solver_.first_line(simulation_) : "";
    if (!solver_.notice.empty()) first_line += (first_line.empty() ? "" : "; ") + solver_.notice;
    if (!first_line.empty()) fmt::print(stderr, "{}\n", first_line);
    RunEnd end{words_.steps, std::nullopt, solver_.time_unit};
    if (solver_.time.id()) end.time = solver_.end;
    pace_.emplace(end);
    pace_->at(simulation_.step(), time(), seconds_now());
    if (!words_.quiet) {
        progress_.emplace(end);
        progress_->at(simulation_.step(), time(), seconds_now());
    }
    if (!words_.out) return;
    control_.emplace(*words_.out);
    begin_series();
    // Last: only a run that has begun undoes what a run before it noted.
    RunLeg leg = leg_;
    leg.step = simulation_.step();
    if (!restarted_from_.empty()) leg.checkpoint = std::filesystem::absolute(restarted_from_).string();
    leg.processes = team_.size(), leg.threads = team_.crew().count();
    history_.emplace(*words_.out);
    history_->began(leg);
}

void Run::begin_series() {
    if (series_every() == 0 || solver_.series.empty()) return;
    std::vector<Series::Column> columns;
    for (const Scalar<double>& scalar : solver_.series) {
        const LabelInfo& info = graph_.labels()[scalar.id()];
        columns.push_back({info.name, info.unit});
    }
    series_.emplace(*words_.out / "series.csv", solver_.time_unit, std::move(columns),
                    words_.restart ? std::optional(simulation_.step()) : std::nullopt);
    if (simulation_.step() == 0 && solver_.series_due && solver_.series_due(0)) append_row();
}

void Run::append_row() {
    std::vector<double> row;
    for (const Scalar<double>& scalar : solver_.series) row.push_back(simulation_.value(scalar));
    series_->append(simulation_.step(), time(), row);
}

/// A batch ends with the case, or where fields are due by the case's time.
void Run::stop_in_time() {
    if (solver_.done.id())
        return simulation_.stop_when<std::int32_t>(solver_.done, [](std::int32_t done) { return done != 0; });
    if (!solver_.time.id()) return;
    const double end = std::min(solver_.end, shown_times_ ? shown_times_->next() : solver_.end);
    simulation_.stop_when<double>(solver_.time, [end](double now) { return reached(now, end); });
}

void Run::answer_requests() {
    if (!control_) return;
    SteeredRun run;
    run.name = words_.case_file;
    run.pace = &*pace_;
    run.series = series_ ? &*series_ : nullptr;
    run.values = [this] {
        std::vector<SteeringValue> values;
        for (const Parameter& p : graph_.parameters())
            values.push_back({p.name, p.unit, p.about, p.value, p.least, p.most});
        return values;
    };
    run.set = [this](const auto& values) {
        values_asked_.insert(values_asked_.end(), values.begin(), values.end());
        return simulation_.step() + 1;
    };
    run.checkpoint = [this] {
        checkpoint_asked_ = true;
        return simulation_.step();
    };
    run.stop = [this] {
        stop_asked_ = true;
        return simulation_.step();
    };
    control_->poll(run, seconds_now());
}

Run::Orders Run::next_orders() {
    answer_requests();
    Orders orders;
    const std::int64_t step = simulation_.step();
    if (!stop_asked_ && !over()) {
        const double wanted = seconds_a_step_ > 0 ? kBatch / seconds_a_step_ : 1;
        orders.steps = std::clamp(static_cast<std::int64_t>(std::min(wanted, 1e6)), std::int64_t{1},
                                  std::min({until_multiple(step, words_.checkpoint),
                                            until_multiple(step, series_ ? series_every() : 0),
                                            until_multiple(step, shown_times_ ? output_.steps : 0)}));
        if (words_.steps) orders.steps = std::min(orders.steps, *words_.steps - step);
        // No batch ends by two scalars.
        if (solver_.done.id() && shown_times_ && output_.interval > 0) orders.steps = 1;
        for (const auto& frames : solver_.frames)
            if (words_.out) orders.steps = std::min(orders.steps, until_multiple(step, frames->every()));
    }
    const bool due =
        words_.checkpoint > 0 && step > first_step_ && (step % words_.checkpoint == 0 || orders.steps == 0);
    orders.checkpoint = (due || checkpoint_asked_) && words_.out;
    // Fields are due for the first state, at the asked steps and times, and for the last state. The state of
    // a restart was shown by the run that wrote the checkpoint.
    if (shown_times_ && shown_ != step && (step > first_step_ || step == 0))
        orders.fields = step == 0 || orders.steps == 0 || shown_times_->due(step, time());
    orders.frames = words_.out && framed_ != step && (step > first_step_ || step == 0) &&
                    std::any_of(solver_.frames.begin(), solver_.frames.end(),
                                [&](const auto& frames) { return frame_due(*frames, orders.steps == 0); });
    orders.parameters = !values_asked_.empty();
    checkpoint_asked_ = false;
    return orders;
}

/// Runs in all members before the step, so that changed parameters are the same in all of them from this step
/// on.
void Run::follow(Orders& orders) {
    team_.together().broadcast(std::span(&orders, 1), 0);
    if (orders.fields != 0) show();
    if (orders.frames != 0) write_frames(orders.steps == 0);
    if (orders.checkpoint != 0) save();
    if (orders.parameters == 0) return;
    if (history_) history_->steered(simulation_.step() + 1, values_asked_);
    std::vector<double> values;
    for (Parameter& p : graph_.parameters()) {
        for (const auto& [name, value] : values_asked_)
            if (name == p.name) p.value = value;
        values.push_back(p.value);
    }
    values_asked_.clear();
    team_.together().broadcast(std::span(values), 0);
    for (std::size_t i = 0; i < values.size(); ++i) graph_.parameters()[i].value = values[i];
    simulation_.parameters_changed();
}

void Run::show() {
    phases_.enter("fields");
    shown_ = simulation_.step();
    write_shown(shown_files_, simulation_, team_, *words_.out / "fields", shown_time());
    shown_times_->pass(time());
    stop_in_time();
}

bool Run::frame_due(const Frames& frames, bool last) const {
    if (last && frames.at_end()) return true;
    return frames.every() > 0 && simulation_.step() % frames.every() == 0;
}

void Run::write_frames(bool last) {
    phases_.enter("frames");
    framed_ = simulation_.step();
    for (const auto& frames : solver_.frames)
        if (frame_due(*frames, last)) frames->write(simulation_, team_, shown_time());
}

void Run::save() {
    if (saved_ == simulation_.step()) return;
    saved_ = simulation_.step();
    phases_.enter("checkpoints");
    StateName name = state_name(schema_);
    name.time = time(), name.ended = ended();
    if (solver_.facts) name.facts = solver_.facts(simulation_);
    save_state(simulation_, graph_, team_, *words_.out, name, words_.keep);
    if (history_) history_->saved(saved_, stepping_s_);
}

void Run::after_batch(double seconds) {
    const std::int64_t step = simulation_.step();
    if (series_ && (step % series_every() == 0 || over()) &&
        (!solver_.series_due || solver_.series_due(step)))
        append_row();
    pace_->at(step, time(), seconds);
    say_moves();
    if (progress_) progress_->at(step, time(), seconds);
}

void Run::say_moves() {
    const std::vector<PatchMove>& moves = simulation_.balanced().moves;
    for (; progress_ && moves_said_ < moves.size(); ++moves_said_) {
        const PatchMove& move = moves[moves_said_];
        progress_->say(fmt::format(
            "step {}: {} patch{} moved in {:.3g} ms; load balance {:.1f} %, now {:.1f} % by measured costs",
            move.step, move.patches, move.patches == 1 ? "" : "es", 1e3 * move.seconds,
            100 * move.balance_before, 100 * move.balance_after));
    }
}

void Run::go() {
    begin();
    if (counting_) counting_->begin();
    for (;;) {
        Orders orders;
        if (team_.rank() == 0) orders = next_orders();
        follow(orders);
        if (orders.steps == 0) break;
        phases_.enter("steps");
        const std::int64_t done = simulation_.advance(orders.steps);
        const double took = phases_.enter("between steps");
        stepping_s_ += took;
        if (done > 0) seconds_a_step_ = took / static_cast<double>(done);
        if (team_.rank() == 0) after_batch(seconds_now());
    }
    if (progress_) progress_->finish();
    if (history_) history_->ended(simulation_.step(), stepping_s_);
    if (counting_) counts_ = gather_counts(counting_->end(), team_);
    team_.barrier();
}

void Run::write_observed() {
    phases_.enter("profile");
    if (counting_ && team_.rank() == 0) std::fputs(counts_table(counts_).c_str(), stdout);
    if (!words_.profile && !words_.timeline) return;
    if (simulation_.step() == first_step_) return;
    recording_.take(simulation_);
    const ProcessRecords mine = recording_.records(team_.rank());
    if (words_.timeline) write_timeline(mine, team_, *words_.out);
    if (!words_.profile) return;
    Profile profile = recording_.gather(mine, team_);
    profile.count(counts_);
    profile.in_all(phases_.until_now());
    if (team_.rank() != 0) return;
    const int threads = std::max(1, team_.size() * team_.crew().count() / std::max(1, team_.nodes()));
    if (std::optional<Roof> roof = measured_roof(results_folder(), threads)) profile.under(std::move(*roof));
    std::fputs(profile.table().c_str(), stdout);
    if (!words_.out) return;
    std::ofstream out(*words_.out / "profile.json");
    profile.write_json(out);
    out.close();
    if (!out)
        throw system_error("the profile cannot be written", errno)
            .at((*words_.out / "profile.json").string());
}

std::string Run::no_number() const {
    std::string found;
    if (const auto odd = series_ ? series_->no_number() : std::nullopt)
        found = fmt::format("'{}' of the series is no number ({}) in step {}", odd->column,
                            without_nan_sign(odd->value), odd->step);
    found = team::text_from(team_, 0, found);
    // A run without a folder has no rows, and rows are there for some steps alone.
    for (const Scalar<double>& scalar : solver_.series)
        if (const double value = simulation_.value(scalar); found.empty() && !std::isfinite(value))
            found = fmt::format("'{}' is no number ({}) in step {}", graph_.labels()[scalar.id()].name,
                                without_nan_sign(value), simulation_.step());
    return found;
}

RunResult Run::result(const Build& build) const {
    RunResult r;
    r.solver = schema_.solver();
    r.case_file = words_.case_file;
    r.settings = schema_.values();
    r.processes = team_.size();
    r.threads = team_.crew().count();
    r.steps_s = stepping_s_;
    r.steps = simulation_.step();
    r.time = time();
    r.time_unit = solver_.time_unit;
    r.compiler = build.compiler;
    r.flags = build.flags;
    r.case_hash = schema_.hash();
    r.counts = counts_;
    r.balance = simulation_.balanced();
    r.memory = bytes_of_all(simulation_.bytes(), team_);
    phases_.enter("comparison");
    if (!restarted_from_.empty()) r.notes.push_back("went on from " + restarted_from_);
    const Finished finished(simulation_, team_);
    // Values that are not kept from step to step (e.g. a largest value) exist only after a step of this run.
    const bool stepped = r.steps > first_step_;
    const bool ended = stepped && (this->ended() || (!solver_.done.id() && !solver_.time.id()));
    std::vector<Figure> further;
    if (solver_.verify && ended) {
        Findings found = solver_.verify(finished);
        further = std::move(found.figures);
        r.criteria = std::move(found.criteria);
        r.unasked = std::move(found.unasked);
        r.verification = std::move(found);
        r.not_compared = r.verification.absent;
        if (r.criteria.empty() && r.not_compared.empty()) r.criteria = {r.verification};
    } else {
        r.not_compared = ended     ? "this solver compares its result with nothing"
                         : stepped ? "stopped before the end of the case"
                                   : "no step was done";
    }
    if (!r.not_compared.empty()) r.verification.what = r.not_compared;
    if (stepped) hold_to_numbers(r, further, no_number());
    const auto steps = static_cast<double>(r.steps - first_step_);
    const bool simulated = words_.counters && words_.counters->simulated;
    if (simulated)
        r.notes.push_back("times are those of the simulation, not of this machine: no figures of them");
    const double particles = particles_of(simulation_, graph_, team_);
    if (steps > 0 && stepping_s_ > 0 && !simulated) {
        r.figures.push_back({"time of a step", stepping_s_ / steps, "s", false});
        // For particles, the number of cells says little: many cells may be empty.
        if (particles > 0)
            r.figures.push_back({"particles updated", particles * steps / stepping_s_, "1/s", true});
        else
            r.figures.push_back({"cells updated", cells_of(graph_) * steps / stepping_s_, "1/s", true});
    }
    if (!simulated)
        for (Figure& figure : further) r.figures.push_back(std::move(figure));
    return r;
}

}  // namespace strata::graph
