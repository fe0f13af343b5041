// Relocation, first operation: finds the particles that leave a patch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "core/base/error.hpp"
#include "core/base/figures.hpp"
#include "core/graph/expand/particles/relocate.hpp"

namespace strata::graph {

namespace {

/// Positions farther away, in cells, are none.
constexpr double kFar = 0x1p30;

}  // namespace

Cells::Cells(const GridShape& shape, Beyond beyond) : origin(shape.origin), spacing(shape.spacing) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < 3; ++a) {
        inverse[a] = 1.0 / spacing[a];
        const bool owns = beyond == Beyond::owned && !shape.periodic[a];
        lowest[a] = owns ? shape.cells.lo[a] : -infinite;
        highest[a] = owns ? shape.cells.hi[a] - 1 : infinite;
        open = open || owns;
    }
}

double Cells::of(std::size_t axis, double position) const {
    const double cell = std::floor((position - origin[axis]) * inverse[axis]);
    return open ? owned(axis, cell) : cell;
}

double Cells::owned(std::size_t axis, double cell) const {
    const double near = cell < lowest[axis] ? lowest[axis] : cell > highest[axis] ? highest[axis] : cell;
    return std::fabs(cell) < kFar ? near : cell;
}

std::vector<Nearby> nearby(const Grid& grid, int patch, int hops) {
    std::vector<Nearby> found{{patch, {}}};
    std::vector<Grid::Meeting> met;
    std::size_t next = 0;
    for (int hop = 0; hop < hops; ++hop) {
        const std::size_t end = found.size();
        for (; next < end; ++next) {
            const Nearby from = found[next];
            grid.find_owners(grid.box(from.patch).shifted(from.shift).grown({1, 1, 1}), On::cells, {}, met);
            for (const Grid::Meeting& each : met) {
                const Nearby one{each.patch, each.shift};
                if (std::find(found.begin(), found.end(), one) == found.end()) found.push_back(one);
            }
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

namespace {

/// Leaves a room of so many, whatever was in it.
template <class T>
void make_room(GrowingPool& pool, T*& values, std::int64_t& capacity, std::int64_t count, int domain) {
    if (count <= capacity) return;
    const auto bytes = [](std::int64_t n) { return static_cast<std::size_t>(n) * sizeof(T); };
    const std::int64_t wanted = count + count / 2 + 16;
    auto* room = reinterpret_cast<T*>(pool.take(bytes(wanted), domain));
    pool.give(reinterpret_cast<std::byte*>(values), bytes(capacity), domain);
    values = room, capacity = wanted;
}

/// More than one in so many that are named: then all are looked at and put in order, which costs less.
constexpr std::int64_t kFew = 8;

template <class Real>
class Leave {
  public:
    Leave(LeaveCall& call, Worker& worker)
        : call_(call),
          of_(*call.of),
          grid_(*of_.set->grid),
          worker_(worker),
          leavers_(call.leavers[worker.epoch(of_.scope) & 1U]),
          count_(call.here->count) {
        const ParticleArrays& now = call.here->now;
        std::byte* first = of_.position.at(now);
        for (int c = 0; c < of_.cells.directions; ++c)
            x_[c] = reinterpret_cast<Real*>(first + c * of_.position.stride(now));
        id_ = reinterpret_cast<const std::int64_t*>(of_.id.at(now));
    }

    void go() {
        call_.listed = call_.moved != nullptr && call_.here->ordered &&
                       static_cast<std::int64_t>(call_.moved->all().size()) <= count_ / kFew;
        if (call_.listed) return go_through_listed();
        if (call_.moved != nullptr) call_.moved->all().clear();
        if (static_cast<std::int64_t>(call_.keys.size()) < count_)
            call_.keys.resize(static_cast<std::size_t>(count_ + count_ / 16));
        leavers_.count = 0;
        call_.gone = count_ == 0 ? 0 : find_who_stays();
        if (call_.gone == 0) return;
        make_room(of_.all->pool(), leavers_.leavers, leavers_.capacity, call_.gone, call_.here->domain);
        for (std::int64_t i = 0; i < count_; ++i)
            if (call_.keys[static_cast<std::size_t>(i)] == LeaveCall::kGone && id_[i] != -1)
                if (const auto back = send(i)) call_.keys[static_cast<std::size_t>(i)] = *back, --call_.gone;
        show_leavers();
    }

  private:
    /// Looks at particles alone that tasks named. Leavers are taken out of the arrays; the others are moved
    /// in place.
    void go_through_listed() {
        leavers_.count = 0;
        call_.out.clear(), call_.movers.clear();
        std::vector<std::int32_t>& named = call_.moved->all();
        std::sort(named.begin(), named.end());
        if (call_.moved->checked) check_others(named);
        if (named.empty()) return;
        named.erase(std::unique(named.begin(), named.end()), named.end());
        call_.out.swap(named);
        named.clear();
        make_room(of_.all->pool(), leavers_.leavers, leavers_.capacity,
                  static_cast<std::int64_t>(call_.out.size()), call_.here->domain);
        for (const std::int32_t i : call_.out) {
            if (id_[i] == -1) continue;
            std::optional<std::uint32_t> key = key_of(i);
            if (!key) key = send(i);
            if (key) call_.movers.push_back({i, *key});
        }
        show_leavers();
    }
    /// Particles that no task named are in the patch still, and in order of cell.
    void check_others(const std::vector<std::int32_t>& named) const {
        std::uint32_t before = 0;
        for (std::int64_t i = 0; i < count_; ++i) {
            if (std::binary_search(named.begin(), named.end(), static_cast<std::int32_t>(i))) continue;
            const std::optional<std::uint32_t> key = id_[i] == -1 ? std::nullopt : key_of(i);
            if (!key || *key < before)
                throw lost(i, "it, or the one before it, left its cell or was deleted, and no task said so")
                    .remedy("Here::moved(set).add(its index) in the task that moved it");
            before = *key;
        }
    }
    /// The cell of one in the patch's box; nothing where it is not in it.
    [[nodiscard]] std::optional<std::uint32_t> key_of(std::int64_t i) const {
        double key = 0;
        for (int c = of_.cells.directions - 1; c >= 0; --c) {
            const auto a = static_cast<std::size_t>(c);
            const double cell = of_.cells.of(a, static_cast<double>(x_[c][i])) - call_.box.lo[a];
            if (!(cell >= 0 && cell < call_.box.extent(c))) return std::nullopt;
            key = key * call_.box.extent(c) + cell;
        }
        return static_cast<std::uint32_t>(key);
    }
    /// By patch, copied to arrays of their own: so this patch's arrays are its own again once it has put its
    /// particles in order, whoever has not taken in its arrivals yet.
    void show_leavers() {
        if (leavers_.count == 0) return;
        std::sort(leavers_.leavers, leavers_.leavers + leavers_.count,
                  [](const Leaver& a, const Leaver& b) { return a.to != b.to ? a.to < b.to : a.at < b.at; });
        ParticleArrays& packed = leavers_.from;
        of_.all->room(of_.set->id, packed, leavers_.count, call_.here->domain);
        for (const ParticleColumn& column : of_.moved)
            for (int c = 0; c < column.components; ++c) {
                const std::byte* from = column.at(call_.here->now) + c * column.stride(call_.here->now);
                std::byte* to = column.at(packed) + c * column.stride(packed);
                for (std::int64_t i = 0; i < leavers_.count; ++i)
                    std::memcpy(to + i * column.bytes, from + leavers_.leavers[i].at * column.bytes,
                                static_cast<std::size_t>(column.bytes));
            }
        for (std::int64_t i = 0; i < leavers_.count; ++i)
            leavers_.leavers[i].at = static_cast<std::int32_t>(i);
    }

    /// The cells of those that are in the patch; returns the number of the others. One loop without branches.
    std::int64_t find_who_stays() {
        std::uint32_t* keys = call_.keys.data();
        std::int64_t gone = 0;
        const Box& box = call_.box;
        double low[3], size[3], stride[3];
        for (std::size_t a = 0; a < 3; ++a) {
            low[a] = box.lo[a];
            size[a] = box.extent(static_cast<int>(a));
            stride[a] = a == 0 ? 1 : stride[a - 1] * size[a - 1];
        }
        const auto key_of = [&](std::int64_t i, int directions, bool open) {
            double key = 0;
            int inside = id_[i] != -1;
            for (int c = 0; c < directions; ++c) {
                const auto a = static_cast<std::size_t>(c);
                double cell =
                    std::floor((static_cast<double>(x_[c][i]) - of_.cells.origin[a]) * of_.cells.inverse[a]);
                if (open) cell = of_.cells.owned(a, cell);
                cell -= low[a];
                inside &= static_cast<int>(cell >= 0) & static_cast<int>(cell < size[a]);
                key += cell * stride[a];
            }
            return inside != 0 ? static_cast<std::uint32_t>(static_cast<std::int64_t>(key))
                               : LeaveCall::kGone;
        };
        const auto loop = [&](auto directions, auto open) {
            for (std::int64_t i = 0; i < count_; ++i) {
                keys[i] = key_of(i, directions, open);
                gone += keys[i] == LeaveCall::kGone;
            }
        };
        const auto all = [&](auto directions) {
            of_.cells.open ? loop(directions, std::true_type()) : loop(directions, std::false_type());
        };
        switch (of_.cells.directions) {
            case 1:
                all(std::integral_constant<int, 1>());
                break;
            case 2:
                all(std::integral_constant<int, 2>());
                break;
            default:
                all(std::integral_constant<int, 3>());
                break;
        }
        return gone;
    }

    /// A particle that is not in the patch: back into the domain, if it crossed a periodic border, and on the
    /// list of those that leave. Where the patch is its own neighbour it may be back in it: then its cell.
    std::optional<std::uint32_t> send(std::int64_t i) {
        const GridShape& shape = grid_.shape();
        Int3 cell = call_.box.lo, shift{};
        for (int c = 0; c < of_.cells.directions; ++c) {
            const auto a = static_cast<std::size_t>(c);
            const double at = static_cast<double>(x_[c][i]);
            double index = of_.cells.of(a, at);
            if (!(std::fabs(index) < kFar))
                throw lost(i, std::isfinite(at) ? "its position is not in any domain"
                                                : "its position is no finite number")
                    .remedy("a shorter time step; or look for a division by 0 in the tasks that move it");
            const int low = shape.cells.lo[a], high = shape.cells.hi[a];
            if (shape.periodic[a] && (index < low || index >= high)) {
                const double periods = std::floor((index - low) / (high - low));
                const double length = (high - low) * of_.cells.spacing[a];
                x_[c][i] = static_cast<Real>(at - periods * length);
                shift[a] = static_cast<int>(periods) * (high - low);
                index = of_.cells.of(a, static_cast<double>(x_[c][i]));
                // Rounding may have put it on a border: that is the lower one, a period up or where it was.
                if (index < low || index >= high) {
                    if (index >= high) shift[a] += high - low;
                    x_[c][i] = lowest(a);
                    index = low;
                }
            }
            cell[a] = static_cast<int>(index);
        }
        static thread_local std::vector<Grid::Meeting> met;  // its memory is used again
        grid_.find_owners({cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}}, On::cells, {}, met);
        if (met.empty())
            throw lost(i, shape.cells.contains(cell) ? "no patch is where it is"
                                                     : "it is beyond a border that is not periodic")
                .remedy(
                    "a shorter time step, if it was thrown out; else a domain, or walls, that hold it. A "
                    "solver may also delete particles there, or keep them: docs/task-graph.md, Particles");
        const Nearby to{met.front().patch, shift};
        if (!call_.reach.empty() && !std::binary_search(call_.reach.begin(), call_.reach.end(), to))
            throw lost(
                i, fmt::format("it went to patch {}, farther than particles of this solver may in one step",
                               to.patch))
                .allowed(fmt::format("{} patch{} a step", of_.hops, of_.hops == 1 ? "" : "es"))
                .remedy("a shorter time step, slower first velocities, or larger patches");
        if (to.patch == call_.patch) {
            const Box& box = call_.box;
            const std::int64_t x = box.extent(0), y = box.extent(1);
            return static_cast<std::uint32_t>(
                (std::int64_t{cell[2] - box.lo[2]} * y + (cell[1] - box.lo[1])) * x + (cell[0] - box.lo[0]));
        }
        leavers_.leavers[leavers_.count++] = {to.patch, static_cast<std::int32_t>(i)};
        return std::nullopt;
    }

    /// The least position in the domain's first cell: rounding can put the border itself outside.
    [[nodiscard]] Real lowest(std::size_t axis) const {
        const int low = grid_.shape().cells.lo[axis];
        Real at = static_cast<Real>(of_.cells.origin[axis] + low * of_.cells.spacing[axis]);
        while (of_.cells.of(axis, static_cast<double>(at)) < low)
            at = std::nextafter(at, std::numeric_limits<Real>::infinity());
        return at;
    }

    [[nodiscard]] Error lost(std::int64_t i, std::string_view why) const {
        std::string where;
        for (int c = 0; c < of_.cells.directions; ++c)
            where +=
                fmt::format("{}{}", c == 0 ? "(" : ", ", without_nan_sign(static_cast<double>(x_[c][i])));
        const std::int64_t step = of_.steps_before == nullptr ? 0 : *of_.steps_before + worker_.epoch(0);
        return Error(fmt::format("particle {} of '{}', on patch {} of '{}', step {}: {}", id_[i],
                                 of_.set->name, call_.patch, grid_.name(), step, why),
                     kFailure)
            .given(where + ")");
    }

    LeaveCall& call_;
    const SetRelocation& of_;
    const Grid& grid_;
    const Worker& worker_;
    PatchLeavers& leavers_;
    std::int64_t count_;
    Real* x_[3] = {};
    const std::int64_t* id_ = nullptr;
};

}  // namespace

Outcome LeaveCall::go(void* what, Worker& worker) {
    auto& call = *static_cast<LeaveCall*>(what);
    if (call.of->position.bytes == sizeof(double))
        Leave<double>(call, worker).go();
    else
        Leave<float>(call, worker).go();
    return Outcome::done;
}

Outcome GatherCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const GatherCall*>(what);
    const Epoch buffer = worker.epoch(call.of->scope) & 1U;
    ProcessLeavers& leavers = call.leavers[buffer];
    leavers.count = 0;
    for (const PatchLeavers* each : call.patches) {
        const PatchLeavers& from = each[buffer];
        for (std::int64_t i = 0, end; i < from.count; i = end) {
            const std::int32_t to = from.leavers[i].to;
            for (end = i + 1; end < from.count && from.leavers[end].to == to;) ++end;
            if (leavers.count == leavers.capacity) {
                ProcessLeavers::Entry* old = leavers.entries;
                const std::int64_t before = leavers.capacity;
                leavers.entries = nullptr, leavers.capacity = 0;
                make_room(call.of->all->pool(), leavers.entries, leavers.capacity, before + 1, 0);
                if (before > 0)
                    std::memcpy(leavers.entries, old,
                                static_cast<std::size_t>(before) * sizeof(ProcessLeavers::Entry));
                call.of->all->pool().give(reinterpret_cast<std::byte*>(old),
                                          static_cast<std::size_t>(before) * sizeof(ProcessLeavers::Entry),
                                          0);
            }
            leavers.entries[leavers.count++] = {to, 0, &from, i, end - i};
        }
    }
    std::sort(leavers.entries, leavers.entries + leavers.count,
              [](const ProcessLeavers::Entry& a, const ProcessLeavers::Entry& b) { return a.to < b.to; });
    return Outcome::done;
}

}  // namespace strata::graph
