#include "core/run/driver/replay.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <ranges>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/private_folder.hpp"
#include "core/base/units.hpp"
#include "core/run/checkpoint/all_or_none.hpp"
#include "core/run/driver/restart.hpp"
#include "core/team/text_from.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

constexpr double kBatch = 0.1;  // seconds between two looks at progress

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

SimulationOptions options_of(team::Team& team, bool balance) {
    SimulationOptions options;
    options.balance = balance;
    options.crew = &team.crew();
    return options;
}

std::vector<Series::Column> columns_of(const Graph& graph, const std::vector<Scalar<double>>& scalars) {
    std::vector<Series::Column> columns;
    for (const Scalar<double>& scalar : scalars) {
        const LabelInfo& info = graph.labels()[scalar.id()];
        columns.push_back({info.name, info.unit});
    }
    return columns;
}

bool same_bits(double a, double b) {
    return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));  // a text has no payload
}

std::string counted(std::int64_t count, const std::string& what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Removes what killed replays left beside `out`: folders on which nobody holds a lock.
void sweep(const fs::path& out) {
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(out.parent_path(), none)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(".replay-") && entry.path() != partial_replay(out)) continue;
        if (!name.ends_with(".partial")) continue;
        const int place = ::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (place < 0) continue;
        if (::flock(place, LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry.path(), none);
        ::close(place);
    }
}

/// A step, and the checkpoint of the state after it; "" for the start.
using State = std::pair<std::int64_t, fs::path>;

/// The last state that is there and whole. Throws Error where none is.
const State& last_whole(const std::vector<State>& states, const fs::path& run, std::int64_t latest) {
    std::vector<std::string> damaged;
    for (const State& state : states | std::views::reverse) {
        const fs::path& path = state.second;
        if (!path.empty() && !fs::exists(path)) continue;  // not kept
        try {
            if (!path.empty()) (void)CheckpointReader(path);
            if (!damaged.empty())
                fmt::print(stderr, "passed over as damaged: {}\n", fmt::join(damaged, "; "));
            return state;
        } catch (const Error& error) {
            damaged.push_back(path.filename().string() + ": " + error.message());
        }
    }
    throw Error("there is no state from which the window can be computed")
        .at(run.string())
        .given(
            damaged.empty()
                ? fmt::format("no checkpoint up to step {}, and the run did not begin at its start", latest)
                : fmt::format("damaged: {}", fmt::join(damaged, "; ")))
        .allowed("a checkpoint at or before the window, or a run from its start")
        .remedy("--keep 0 keeps all checkpoints of a run");
}

}  // namespace

Replay::Replay(team::Team& team, Graph& graph, const Solver& solver, const CaseSchema& schema,
               ReplayPlan plan, const OutputSettings& output, bool balance, bool quiet, Phases& phases)
    : team_(team),
      graph_(graph),
      solver_(solver),
      schema_(schema),
      plan_(std::move(plan)),
      quiet_(quiet),
      phases_(phases),
      simulation_(graph, Members::of(team), options_of(team, balance)) {
    if (can_write_fields())
        shown_ = shown_files(graph, simulation_.resolved(), solver, schema, output, plan_.fields);
    folder_ = partial_replay(plan_.out);
}

Replay::~Replay() {
    if (lock_ < 0) return;
    std::error_code none;
    fs::remove_all(folder_, none);  // not whole
    ::close(lock_);
}

StateName Replay::name_of_state() const {
    StateName name = state_name(schema_);
    name.added = plan_.kept;
    return name;
}

/// From the last state at or before the window that is whole. Member 0 chooses.
void Replay::restore() {
    const std::int64_t latest = plan_.wish.from - (plan_.from_a_step ? 1 : 0);
    std::vector<State> states;
    for (const RunLeg& leg : plan_.record.legs) states.emplace_back(leg.step, leg.checkpoint);
    for (const std::int64_t step : plan_.record.checkpoints)
        states.emplace_back(step, checkpoint_path(plan_.wish.run, step));
    std::erase_if(states, [&](const State& state) { return state.first > latest; });
    std::stable_sort(states.begin(), states.end(),
                     [](const State& a, const State& b) { return a.first < b.first; });
    first_or_none(
        team_,
        [&] {
            const State& state = last_whole(states, plan_.wish.run, latest);
            first_ = state.first;
            from_ = state.second.string();
        },
        [] {});
    team_.together().broadcast(std::span(&first_, 1), 0);
    from_ = team::text_from(team_, 0, from_);
    expect_same_identity(plan_, first_, plan_.now);
    if (from_.empty()) return simulation_.start();
    const CheckpointReader state(from_);
    expect_case(schema_, state);
    first_time_ = state.head().time;
    restore_state(simulation_, graph_, team_, state, name_of_state());
}

void Replay::begin() {
    phases_.enter("restart");
    restore();
    first_or_none(
        team_,
        [&] {
            read_original();
            say_start();
            make_folder();
        },
        [] {});
    phases_.enter("between steps");
}

/// What the run wrote of the steps that are computed.
void Replay::read_original() {
    const std::int64_t last = plan_.wish.to;
    for (Series::Row& row : Series::read(plan_.wish.run / "series.csv", solver_.time_unit,
                                         columns_of(graph_, solver_.series), first_, last))
        rows_.emplace(row.step, std::move(row));
    for (const ShownFile& file : shown_)
        for (const std::string& name :
             listed_fields(plan_.wish.run / "fields" / (file.name + ".vtkhdf.series"))) {
            const std::int64_t step = step_of_field(name);
            if (step >= first_ && step <= last && fs::exists(plan_.wish.run / "fields" / name))
                fields_[step].push_back(name);
        }
    for (const std::int64_t step : plan_.record.checkpoints)
        if (step > first_ && step <= last && fs::exists(checkpoint_path(plan_.wish.run, step)))
            checkpoints_.insert(step);
    for (const auto& [step, row] : rows_) stops_.insert(step);
    for (const auto& [step, names] : fields_) stops_.insert(step);
    stops_.insert(checkpoints_.begin(), checkpoints_.end());
    for (const RunRecord::Steered& steered : plan_.record.steered) stops_.insert(steered.before_step - 1);
    stops_.insert(last);
}

void Replay::say_start() const {
    const std::int64_t steps = plan_.wish.to - first_;
    const double rate = plan_.record.steps_per_second;
    const RunLeg& last = plan_.record.legs.back();
    const std::string about = rate > 0 ? fmt::format(", about {} at the speed that the run had on {}x{}",
                                                     print_duration(static_cast<double>(steps) / rate),
                                                     last.processes, last.threads)
                                       : "";
    fmt::print(stderr, "from {}: {} to be computed again{}\n",
               from_.empty() ? "the start" : fs::path(from_).filename().string(), counted(steps, "step"),
               about);
}

void Replay::make_folder() {
    std::error_code failed = make_results_folder(fs::absolute(plan_.out).parent_path());
    if (!failed) {
        sweep(plan_.out);
        failed = make_results_folder(folder_);
    }
    if (failed)
        throw system_error("the folder of the replay cannot be made", failed.value())
            .at(plan_.out.string())
            .remedy("--out FOLDER names another one");
    const int place = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0)
        throw system_error("the folder of the replay cannot be made", errno)
            .at(plan_.out.string())
            .remedy("--out FOLDER names another one");
    if (::flock(place, LOCK_EX | LOCK_NB) != 0) {
        ::close(place);
        throw Error("another replay of this window is going on").at(plan_.out.string());
    }
    lock_ = place;
    std::vector<Scalar<double>> all = solver_.series;
    all.insert(all.end(), plan_.columns.begin(), plan_.columns.end());
    if (!all.empty()) series_.emplace(folder_ / "series.csv", solver_.time_unit, columns_of(graph_, all));
    for (const char* name : {"fields", "compared"})
        if (!shown_.empty()) fs::create_directories(folder_ / name);
    if (quiet_) return;
    progress_.emplace(RunEnd{plan_.wish.to, std::nullopt, solver_.time_unit});
    progress_->at(first_, time(), seconds_now());
}

Replay::Orders Replay::next_orders() {
    Orders orders;
    const std::int64_t step = simulation_.step(), to = plan_.wish.to;
    if (step > first_) compare_row();
    if (in_output(step)) append_row();
    orders.fields = in_output(step) && !shown_.empty();
    orders.frames = in_output(step) && !solver_.frames.empty();
    orders.compare_fields = fields_.count(step) > 0;
    orders.compare_checkpoint = checkpoints_.count(step) > 0;
    for (const RunRecord::Steered& steered : plan_.record.steered)
        orders.parameters = orders.parameters || (steered.before_step == step + 1 && step < to);
    if (step == to) return orders;
    std::int64_t next = *stops_.upper_bound(step);
    const std::int64_t from = plan_.wish.from, every = plan_.wish.every;
    next = std::min(next, step < from ? std::max(from, step + 1) : step + every - (step - from) % every);
    const double wanted = seconds_a_step_ > 0 ? kBatch / seconds_a_step_ : 1;
    orders.steps = std::clamp(static_cast<std::int64_t>(std::min(wanted, 1e6)), std::int64_t{1}, next - step);
    return orders;
}

void Replay::follow(Orders& orders) {
    team_.together().broadcast(std::span(&orders, 1), 0);
    if (orders.fields != 0 || orders.compare_fields != 0) show(orders);
    if (orders.frames != 0) write_frames();
    if (orders.compare_checkpoint != 0) compare_checkpoint();
    if (orders.parameters == 0) return;
    std::vector<double> values;
    for (Parameter& p : graph_.parameters()) {
        for (const RunRecord::Steered& steered : plan_.record.steered)
            for (const auto& [name, value] : steered.values)
                if (steered.before_step == simulation_.step() + 1 && name == p.name) p.value = value;
        values.push_back(p.value);
    }
    team_.together().broadcast(std::span(values), 0);
    for (std::size_t i = 0; i < values.size(); ++i) graph_.parameters()[i].value = values[i];
    simulation_.parameters_changed();
}

void Replay::differs(const std::string& what) const {
    throw Error(fmt::format("the replay is not the run's: step {}, {}", simulation_.step(), what), kFailure)
        .at(plan_.wish.run.string())
        .remedy(
            "nothing was written. Program, kind of processor and case are the same, so: a file that the case "
            "names has changed, a task depends on more than it declares, or the hardware erred (strata "
            "centre integrity)");
}

void Replay::compare_row() {
    const std::int64_t step = simulation_.step();
    const auto row = rows_.find(step);
    if (row == rows_.end()) return;
    const auto expect = [&](const std::string& name, double then, double now) {
        if (!same_bits(then, now)) differs(fmt::format("series.csv, '{}': {} and {}", name, then, now));
    };
    if (solver_.time.id()) expect("time", row->second.time, time());
    for (std::size_t i = 0; i < solver_.series.size(); ++i)
        expect(graph_.labels()[solver_.series[i].id()].name, row->second.values[i],
               simulation_.value(solver_.series[i]));
    ++compared_.rows;
}

/// Checkpoints lack numbers that each step makes anew, so the row of the first state is the run's own.
void Replay::append_row() {
    if (!series_) return;
    if (simulation_.step() == first_) {
        const auto own = rows_.find(first_);
        if (own != rows_.end()) series_->append(first_, own->second.time, own->second.values);
        return;
    }
    std::vector<double> row;
    for (const Scalar<double>& scalar : solver_.series) row.push_back(simulation_.value(scalar));
    for (const Scalar<double>& scalar : plan_.columns) row.push_back(simulation_.value(scalar));
    series_->append(simulation_.step(), solver_.time.id() ? time() : 0, row);
}

/// The step's field files: among the output, or for the comparison alone.
void Replay::show(const Orders& orders) {
    phases_.enter("fields");
    const fs::path into = folder_ / (orders.fields != 0 ? "fields" : "compared");
    write_shown(shown_, simulation_, team_, into, time());
    if (team_.rank() == 0 && orders.compare_fields != 0) {
        for (const std::string& name : fields_[simulation_.step()]) {
            const std::string found = fields_difference(plan_.wish.run / "fields" / name, into / name);
            if (!found.empty()) differs(fmt::format("fields/{}, {}", name, found));
            ++compared_.fields;
        }
        fs::remove_all(folder_ / "compared");
        fs::create_directories(folder_ / "compared");
    }
    phases_.enter("between steps");
}

void Replay::write_frames() {
    phases_.enter("frames");
    for (const auto& frames : solver_.frames) {
        if (!framed_) frames->begin(simulation_, team_, folder_, plan_.wish.every, false);
        frames->write(simulation_, team_, time());
    }
    framed_ = true;
    phases_.enter("between steps");
}

void Replay::compare_checkpoint() {
    phases_.enter("checkpoints");
    const fs::path path = checkpoint_path(plan_.wish.run, simulation_.step());
    const std::string found =
        state_difference(simulation_, graph_, team_, CheckpointReader(path), name_of_state());
    first_or_none(
        team_,
        [&] {
            if (!found.empty()) differs(fmt::format("{}, {}", path.filename().string(), found));
        },
        [] {});
    ++compared_.checkpoints;
    phases_.enter("between steps");
}

std::string Replay::compared_text() const {
    std::vector<std::string> parts;
    if (compared_.rows > 0) parts.push_back(counted(compared_.rows, "row") + " of series.csv");
    if (compared_.fields > 0) parts.push_back(counted(compared_.fields, "field file"));
    if (compared_.checkpoints > 0) parts.push_back(counted(compared_.checkpoints, "checkpoint"));
    return fmt::format("{}", fmt::join(parts, ", "));
}

void Replay::finish() {
    series_.reset();
    fs::remove_all(folder_ / "compared");
    std::ofstream out(folder_ / "replay.json");
    Json j(out);
    j.object().member("schema", "strata.replay/1").member("run", fs::absolute(plan_.wish.run).string());
    j.member("from_step", plan_.wish.from).member("to_step", plan_.wish.to).member("every", plan_.wish.every);
    j.member("added", plan_.wish.add).member("began_at", first_).member("checkpoint", from_);
    j.member("processes", team_.size()).member("threads", team_.crew().count());
    j.member("moves", simulation_.balanced().moves.size());
    j.key("alike").object().member("series_rows", compared_.rows).member("field_files", compared_.fields);
    j.member("checkpoints", compared_.checkpoints).end().end();
    out.close();
    if (!out) throw system_error("the replay cannot be written", errno).at(plan_.out.string());
    fs::rename(folder_, plan_.out);
    ::close(std::exchange(lock_, -1));
    const std::string alike = compared_text();
    fmt::print("{}\nsteps {} to {} are in {}\n",
               alike.empty()
                   ? fmt::format("nothing that the run wrote lies within steps {} to {}: not compared",
                                 first_, plan_.wish.to)
                   : "bit for bit alike with the run: " + alike,
               plan_.wish.from, plan_.wish.to, plan_.out.string());
    std::fflush(stdout);
}

void Replay::go() {
    begin();
    for (;;) {
        Orders orders;
        if (team_.rank() == 0) orders = next_orders();
        follow(orders);
        if (orders.steps == 0) break;
        phases_.enter("steps");
        const std::int64_t done = simulation_.advance(orders.steps);
        seconds_a_step_ =
            phases_.enter("between steps") / static_cast<double>(std::max<std::int64_t>(done, 1));
        if (progress_) progress_->at(simulation_.step(), time(), seconds_now());
    }
    if (progress_) progress_->finish();
    first_or_none(
        team_, [&] { finish(); }, [] {});
}

}  // namespace strata::graph
