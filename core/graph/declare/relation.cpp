#include "core/graph/declare/relation.hpp"

#include <fmt/format.h>

#include "core/base/counted.hpp"
#include "core/base/error.hpp"

namespace strata::graph {
namespace {

int floor_div(int a, int b) { return a / b - (a % b != 0 && a < 0 ? 1 : 0); }
int ceil_div(int a, int b) { return -floor_div(-a, b); }

}  // namespace

Box Relation::window(int, On) const {
    throw Error(fmt::format("relation '{}' shows no window", name_))
        .remedy("ask for its list, or for the patch with its ghosts");
}

std::int64_t Relation::length(int) const {
    throw Error(fmt::format("relation '{}' shows no list", name_)).remedy("ask for its window");
}

Overlap::Overlap(std::string name, const Grid& source, const Grid& target, Level level, int ratio,
                 const Int3& ghosts)
    : Relation(std::move(name), source, target, Shape::window),
      from_(source),
      to_(target),
      level_(level),
      ratio_(ratio),
      ghosts_(ghosts) {
    if (ratio < 1 || (level == Level::same && ratio != 1))
        throw Error(fmt::format("relation '{}': the ratio of '{}' to '{}' cannot be", this->name(),
                                source.name(), target.name()))
            .given(fmt::format("{}", ratio))
            .allowed(level == Level::same ? "1 between grids of the same level" : "1 or more");
    for (const Grid* grid : {&source, &target})
        if (grid->zones() > 1)
            throw Error(
                fmt::format("relation '{}': '{}' has several zones, whose indices say nothing of each other",
                            this->name(), grid->name()))
                .given(fmt::format("{} zones", grid->zones()))
                .allowed("grids of one zone")
                .remedy("a Gather takes single values from any patch");
    for (std::size_t a = 0; a < 3; ++a)
        if (ghosts[a] < 0)
            throw Error(
                fmt::format("relation '{}': the ghosts along {} are fewer than none", this->name(), "xyz"[a]))
                .given(fmt::format("{}", ghosts[a]))
                .allowed("0 or more");
}

Box Overlap::window(int to, On on) const {
    Box values = to_.owned(to, on);
    for (std::size_t a = 0; a < 3; ++a) {
        const int side = on_sides(on, a) ? 1 : 0;
        if (level_ == Level::source_coarser) {
            values.lo[a] = floor_div(values.lo[a], ratio_);
            values.hi[a] = ceil_div(values.hi[a] - side, ratio_) + side;
        } else if (level_ == Level::source_finer) {
            values.lo[a] *= ratio_;
            values.hi[a] = (values.hi[a] - side) * ratio_ + side;
        }
    }
    return values.grown(ghosts_);
}

std::vector<Piece> Overlap::pieces(int to, On on) const {
    const std::vector<Grid::Meeting> met = from_.owners(window(to, on), on);
    std::vector<Piece> all(met.size());
    for (std::size_t i = 0; i < met.size(); ++i) {
        const Int3& shift = met[i].shift;
        all[i].from = met[i].patch;
        all[i].box = met[i].box.shifted({-shift[0], -shift[1], -shift[2]});
        all[i].shift = shift;
    }
    return all;
}

Gather::Gather(std::string name, const Family& source, const Family& target, Table table)
    : Relation(std::move(name), source, target, Shape::list) {
    check(table);
    table_ = std::move(table);
}

void Gather::replace(Table table) {
    check(table);
    table_ = std::move(table);
    changed();
}

void Gather::check(const Table& table) const {
    if (table.size() != static_cast<std::size_t>(target().patches()))
        throw Error(fmt::format("relation '{}' needs a list for each patch of '{}'", name(), target().name()))
            .given(counted(static_cast<std::int64_t>(table.size()), "list"))
            .allowed(fmt::format("{}, one a patch", target().patches()));
    for (std::size_t to = 0; to < table.size(); ++to)
        for (std::size_t i = 0; i < table[to].size(); ++i) {
            const Source& from = table[to][i];
            if (from.patch < 0 || from.patch >= source().patches() || from.entry < 0)
                throw Error(
                    fmt::format("relation '{}': value {} of patch {} comes from nowhere", name(), i, to))
                    .given(fmt::format("patch {}, entry {}", from.patch, from.entry))
                    .allowed(fmt::format("patches 0 to {} of '{}', entries from 0", source().patches() - 1,
                                         source().name()));
        }
}

std::vector<Piece> Gather::pieces(int to, On) const {
    const std::vector<Source>& list = table_[static_cast<std::size_t>(to)];
    std::vector<Piece> all;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (i == 0 || list[i].patch != list[i - 1].patch) {
            all.emplace_back();
            all.back().from = list[i].patch;
            all.back().at = static_cast<std::int64_t>(i);
        }
        all.back().entries.push_back(list[i].entry);
    }
    return all;
}

std::int64_t Gather::length(int to) const {
    return static_cast<std::int64_t>(table_[static_cast<std::size_t>(to)].size());
}

}  // namespace strata::graph
