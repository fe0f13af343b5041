#include "solvers/md/files/trajectory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <span>

#include "core/base/error.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/run/checkpoint/all_or_none.hpp"
#include "core/run/driver/grid_values.hpp"

namespace strata::md {

namespace {

using graph::Simulation;
using graph::ValuesNow;

template <class T>
std::vector<T> values(ValuesNow& now, graph::LabelId label, int patch, int components) {
    std::vector<std::byte> bytes;
    now.read({label}, patch, components, bytes);
    std::vector<T> all(bytes.size() / sizeof(T));
    std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
}

int own_patches(const Simulation& run, graph::SetId set) {
    const auto& memory = run.plan().memory();
    return static_cast<int>(memory.patches()[memory.populations().family(set)].size());
}

}  // namespace

IdOrder::IdOrder(const std::vector<std::int64_t>& mine, team::Team& team) {
    const auto add = [](std::int64_t a, std::int64_t b) { return a + b; };
    const auto most = [](std::int64_t a, std::int64_t b) { return std::max(a, b); };
    constexpr auto none = std::numeric_limits<std::int64_t>::min();
    std::int64_t low = none, high = none;  // low: of the negative numbers
    for (const std::int64_t id : mine) low = std::max(low, -id), high = std::max(high, id);
    atoms_ = team.together().reduce(static_cast<std::int64_t>(mine.size()), add);
    least_ = -team.together().reduce(low, most);
    largest_ = team.together().reduce(high, most);
    if (atoms_ == 0 || largest_ - least_ + 1 == atoms_) return;
    bits_.resize(static_cast<std::size_t>((largest_ - least_) / 64 + 1));
    for (const std::int64_t id : mine) {
        const auto at = static_cast<std::uint64_t>(id - least_);
        auto& word = bits_[at / 64];
        word = static_cast<std::int64_t>(static_cast<std::uint64_t>(word) | (std::uint64_t{1} << (at % 64)));
    }
    team.together().reduce(std::span(bits_), [](std::int64_t a, std::int64_t b) { return a | b; });
    std::int64_t count = 0;
    for (const std::int64_t word : bits_) {
        before_.push_back(count);
        count += std::popcount(static_cast<std::uint64_t>(word));
    }
}

std::int64_t IdOrder::place(std::int64_t id) const {
    bool there = id >= least_ && id <= largest_;
    const auto at = there ? static_cast<std::uint64_t>(id - least_) : 0;
    std::int64_t place = id - least_;
    if (there && !bits_.empty()) {
        const auto word = static_cast<std::uint64_t>(bits_[at / 64]);
        there = (word >> (at % 64) & 1U) != 0;
        place = before_[at / 64] + std::popcount(word & ((std::uint64_t{1} << (at % 64)) - 1));
    }
    if (there) return place;
    throw Error("an atom was not there when the trajectory began", kFailure)
        .given(fmt::format("{}", id))
        .allowed("the same atoms in all frames");
}

TrajectoryFile::TrajectoryFile(const TrajectoryForm& form, Trajectory about, TrajectoryLabels labels,
                               std::function<Frame(const Simulation&)> frame)
    : form_(form), about_(std::move(about)), labels_(labels), frame_(std::move(frame)) {}

void TrajectoryFile::begin(const Simulation& run, team::Team& team, const std::filesystem::path& folder,
                           std::int64_t every, bool restarted) {
    ValuesNow now(run);
    std::vector<std::int64_t> mine;
    for (int patch = 0; patch < own_patches(run, labels_.set); ++patch)
        for (const std::int64_t id : values<std::int64_t>(now, labels_.id, patch, 1)) mine.push_back(id);
    order_ = std::make_unique<IdOrder>(mine, team);
    about_.atoms = order_->atoms();
    if (about_.atoms > form_.most_atoms)
        throw Error(std::string(form_.why_no_more))
            .given(fmt::format("{} atoms", about_.atoms))
            .allowed(fmt::format("{}", form_.most_atoms))
            .remedy("write \"xyz\", or field files ([output])");
    about_.every = every;
    // The first frame of a new file is that of the next multiple.
    const std::int64_t step = run.step();
    about_.first_step = restarted ? (step / about_.every + 1) * about_.every : step;
    const auto make = [&] {
        format_ = form_.format(about_);
        file_ = std::make_unique<FrameFile>(folder / fmt::format("trajectory.{}", form_.name), *format_);
    };
    make();
    graph::first_or_none(
        team, [&] { first_ = file_->begin(restarted ? step : -1); }, [] {});
    team.together().broadcast(std::span(&first_, 1), 0);
    if (first_ < 0) first_ = about_.first_step;
    about_.first_step = first_;
    make();
}

void TrajectoryFile::write(const Simulation& run, team::Team& team, double time) {
    if (run.step() < first_) return;
    const auto undo = [&] { file_->abandon(); };
    const auto room = [&] {
        Frame frame = frame_(run);
        frame.step = run.step();
        frame.time = time;
        file_->make_room(frame);
    };
    graph::first_or_none(team, room, undo);
    // One node after the other, as field files are: network file systems cache whole pages.
    std::int64_t count = 0;
    for (int node = 0; node < team.nodes(); ++node)
        graph::all_or_none(
            team,
            [&] {
                if (team.node() == node) count = put_atoms(run);
            },
            undo);
    count = team.together().reduce(count, [](std::int64_t a, std::int64_t b) { return a + b; });
    if (count != order_->atoms())
        throw Error("atoms of the trajectory are lost", kFailure)
            .given(fmt::format("{} atoms in step {}", count, run.step()))
            .allowed(fmt::format("{}, the same in all frames", order_->atoms()));
    graph::first_or_none(
        team, [&] { file_->commit((run.step() - first_) / about_.every); }, undo);
}

std::int64_t TrajectoryFile::put_atoms(const Simulation& run) const {
    ValuesNow now(run);
    const Frame frame = frame_(run);
    const FrameFile::Room room(*file_);
    std::int64_t count = 0;
    for (int patch = 0; patch < own_patches(run, labels_.set); ++patch) {
        const auto ids = values<std::int64_t>(now, labels_.id, patch, 1);
        auto x = values<double>(now, labels_.x, patch, 3);
        std::vector<std::int32_t> kinds(ids.size());
        if (labels_.species) kinds = values<std::int32_t>(now, labels_.species, patch, 1);
        const std::size_t n = ids.size();
        for (double& each : x) each *= frame.scale;
        for (std::size_t i = 0; i < n; ++i)
            format_->atom(room.bytes(), order_->place(ids[i]), ids[i], kinds[i],
                          {x[i], x[n + i], x[2 * n + i]});
        count += static_cast<std::int64_t>(n);
    }
    return count;
}

}  // namespace strata::md
