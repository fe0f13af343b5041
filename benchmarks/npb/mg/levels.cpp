#include "benchmarks/npb/mg/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "benchmarks/npb/mg/charges.hpp"
#include "core/base/error.hpp"

namespace strata::npb::mg {
namespace {

/// Points of a process's block of a grid of n^3; a grid is divided where each block has two or more in each
/// direction.
std::array<std::int64_t, 3> block_of(std::int64_t n, const std::array<int, 3>& counts) {
    return {n / counts[0], n / counts[1], n / counts[2]};
}
bool divides(std::int64_t n, const std::array<int, 3>& counts) {
    const auto block = block_of(n, counts);
    return *std::min_element(block.begin(), block.end()) >= 2;
}

/// A worker computes the two planes at either end of its part before the others.
constexpr std::int64_t kLeastPlanes = 4;
bool swept(const Grid& grid, std::int64_t planes, int workers) {
    return grid.whole_planes() && planes >= kLeastPlanes * workers;
}

}  // namespace

bool Levels::sweeps(const Problem& problem, int processes, int workers) {
    const Grid grid(0, processes);
    return swept(grid, block_of(problem.points(), grid.counts())[2], workers);
}

Levels::Levels(const Problem& problem, Group& group)
    : problem_(problem),
      group_(group),
      smoother_(problem.iterations == 4 ? kSmall : kLarge),
      grid_(group.rank(), group.size()),
      divided_(grid_),
      whole_(Grid(0, 1)),
      levels_(static_cast<std::size_t>(problem.levels) + 1) {
    for (int k = 1; k <= finest(); ++k) {
        Level& l = level(k);
        l.n = std::int64_t{1} << k;
        l.divided = divides(l.n, grid_.counts());
        const auto block = l.divided ? block_of(l.n, grid_.counts()) : std::array{l.n, l.n, l.n};
        l.swept = swept(grid_, block[2], group.workers());
        for (std::size_t d = 0; l.divided && d < 3; ++d) l.begin[d] = grid_.place()[d] * block[d];
        const auto make = [&](const char* name) {
            const auto memory = group.array<double>(fmt::format("{} {}", name, k),
                                                    Field::doubles(block[0], block[1], block[2]));
            return Field::in(memory.data(), block[0], block[1], block[2]);
        };
        l.u = make("u");
        if (k < finest() || !l.swept) l.r = make("r");
        if (k == finest()) v_ = make("v");
    }
    if (!level(finest()).divided)
        throw Error("there are more processes than this class can be divided over")
            .given(std::to_string(group.size()))
            .allowed("blocks of two points or more in each direction")
            .remedy("a larger class, or fewer processes");
    scratch_row_ = static_cast<std::size_t>(level(finest()).n + 4 * Field::kLine);
    scratch_ = group.array<double>("rows", 2 * scratch_row_ * static_cast<std::size_t>(group.workers()));
    const Field& block = level(finest()).u;
    const auto& begin = level(finest()).begin;
    const Charges charges = find_charges(problem.points(), block, begin, group);
    for (const auto& [places, mine] :
         {std::pair{&charges.plus, &charges_[0]}, {&charges.minus, &charges_[1]}})
        for (const std::int64_t place : *places) {
            const std::int64_t n = problem.points();
            const std::int64_t x = place % n - begin[0], y = place / n % n - begin[1],
                               z = place / n / n - begin[2];
            if (x >= 0 && x < block.nx && y >= 0 && y < block.ny && z >= 0 && z < block.nz)
                mine->push_back(z * block.layer + y * block.row + x);
        }
}

void Levels::reset() {
    const Field& u = level(finest()).u;
    for (const Field& field : {u, v_})
        group_.each_part(field.nz, [&](std::int64_t begin, std::int64_t end) {
            // The planes around the block go with those next to them.
            if (begin == 0) --begin;
            if (end == field.nz) ++end;
            std::memset(field.plane(begin).at(-1) - 1, 0,
                        static_cast<std::size_t>((end - begin) * field.layer) * sizeof(double));
        });
    group_.once([&] {
        for (const std::int64_t place : charges_[0]) v_.origin[place] = 1;
        for (const std::int64_t place : charges_[1]) v_.origin[place] = -1;
    });
}

Scratch Levels::scratch(int worker) const {
    double* first = scratch_.data() + 2 * scratch_row_ * static_cast<std::size_t>(worker) + Field::kLine;
    return {first, first + scratch_row_};
}

Field Levels::coarse_part(int k, const Field& coarse) {
    const Level& fine = level(k);
    if (level(k - 1).divided == fine.divided) return coarse;
    return coarse.part(fine.begin[0] / 2, fine.begin[1] / 2, fine.begin[2] / 2, fine.u.nx / 2, fine.u.ny / 2,
                       fine.u.nz / 2);
}

void Levels::unite(int k, const Field& coarse) {
    if (level(k - 1).divided == level(k).divided) return;
    const auto& counts = grid_.counts();
    const std::int64_t n = level(k - 1).n;
    const auto size = block_of(n, counts);
    const auto points = static_cast<std::size_t>(size[0] * size[1] * size[2]);
    mine_.resize(points);
    all_.resize(points * static_cast<std::size_t>(group_.size()));
    const auto each = [&](int rank, double* packed, auto&& what) {
        const auto place = Grid::place_of(rank, counts);
        for (std::int64_t z = 0; z < size[2]; ++z)
            for (std::int64_t y = 0; y < size[1]; ++y)
                for (std::int64_t x = 0; x < size[0]; ++x)
                    what(coarse.at(place[0] * size[0] + x, place[1] * size[1] + y, place[2] * size[2] + z),
                         *packed++);
    };
    each(group_.rank(), mine_.data(), [](const double& point, double& packed) { packed = point; });
    group_.gather(std::as_bytes(std::span(mine_)), std::as_writable_bytes(std::span(all_)));
    for (int rank = 0; rank < group_.size(); ++rank)
        each(rank, all_.data() + points * static_cast<std::size_t>(rank),
             [](double& point, const double& packed) { point = packed; });
}

std::vector<std::pair<std::string, std::uint64_t>> Levels::needs(const Problem& problem, int processes,
                                                                 int workers) {
    const Grid grid(0, processes);
    std::uint64_t finest = 0, coarser = 0;
    for (int k = 1; k <= problem.levels; ++k) {
        const std::int64_t n = std::int64_t{1} << k;
        const auto block =
            divides(n, grid.counts()) ? block_of(n, grid.counts()) : std::array<std::int64_t, 3>{n, n, n};
        const std::uint64_t bytes = Field::doubles(block[0], block[1], block[2]) * sizeof(double);
        (k == problem.levels ? finest : coarser) += k == problem.levels ? bytes : 2 * bytes;
    }
    const std::uint64_t r = sweeps(problem, processes, workers) ? 0 : finest;
    return {{"u and v", 2 * finest}, {"r", r}, {"coarser grids", coarser}};
}

}  // namespace strata::npb::mg
