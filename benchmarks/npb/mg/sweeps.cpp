// The cycle's way through a grid of whole planes, with operators that follow one another at once, in strips
// of rows that go through all planes: what an operator leaves is still in the second cache when the next one
// needs it. So the finest grid's u and v come from memory once on the way down and once on the way up.
#include <algorithm>
#include <cstring>

#include "benchmarks/npb/mg/cycle.hpp"

namespace strata::npb::mg {
namespace {

/// Rows of a strip, an even number: of nine planes (u and v at work and to come, r) they take some 600 KB.
std::int64_t strip_of(std::int64_t n) { return std::min(std::max<std::int64_t>(6144 / n, 8), n); }

/// Copies `count` rows with the values at their ends.
void copy_rows(Plane from, std::int64_t y, Plane to, std::int64_t to_y, std::int64_t count, std::int64_t nx) {
    const auto doubles = static_cast<std::size_t>((count - 1) * from.row + nx + 2);
    std::memcpy(to.at(to_y) - 1, from.at(y) - 1, doubles * sizeof(double));
}

/// Coarse planes whose fine ones, and what their residual needs, are all in one worker's part.
struct Within {
    std::int64_t begin, end;
    explicit Within(Share part) : begin((part.begin + 2) / 2), end((part.end - 2) / 2) {}
};

}  // namespace

void Cycle::residual_and_restrict() {
    const int k = levels_.finest();
    const Field &u = levels_.level(k).u, &v = levels_.v();
    // The last coarse plane also needs the fine one behind it: the first of the process above.
    if (levels_.halo(k).meets_others()) {
        const Plane first = window(k, 0, kFirst);
        group_.each_part_of(u.ny, [&](std::int64_t begin, std::int64_t end, int worker) {
            residual(slab(u, 0), v.plane(0), first, u.nx, {begin, end}, levels_.scratch(worker),
                     {soon(v.plane(0)), soon(u.plane(1))});
        });
        group_.once([&] { wrap(first, u.nx, u.ny); });
        levels_.halo(k).exchange_planes(memory(k, first), {}, {}, memory(k, from_above(k)), group_);
    }
    group_.each([&](int worker, int workers) {
        const Share part(u.nz / 2, worker, workers);
        if (!within_done_) return restrict_planes(part.begin, part.end, worker);
        const Within within(Share(u.nz, worker, workers));
        const std::int64_t before = worker == 0 ? 0 : Within(Share(u.nz, worker - 1, workers)).end;
        restrict_planes(before, within.begin, worker);
        if (worker == workers - 1) restrict_planes(within.end, u.nz / 2, worker);
    });
    within_done_ = false;
}

void Cycle::restrict_planes(std::int64_t begin, std::int64_t end, int worker) {
    const int k = levels_.finest();
    const Field &u = levels_.level(k).u, &v = levels_.v();
    const Field coarse = levels_.coarse_part(k, levels_.level(k - 1).r);
    const Scratch scratch = levels_.scratch(worker);
    const bool others = levels_.halo(k).meets_others();
    const std::int64_t strip = strip_of(u.ny) / 2;
    if (begin == end) return;
    for (std::int64_t y = 0; y < coarse.ny; y += strip) {
        // A strip's last coarse row also needs the fine one behind it, which is computed once more (and one
        // further, since rows come in pairs).
        const Rows rows{y, std::min(y + strip, coarse.ny)};
        const Rows fine{2 * rows.begin, std::min(2 * rows.end + 2, u.ny)};
        const auto make = [&](std::int64_t z) {
            if (others && z == u.nz) return from_above(k);
            const Plane r = window(k, worker, z % 3);
            const Slab here = slab(u, z % u.nz);
            const Plane from = v.plane(z % u.nz);
            const Next next{v.plane(z + 1), u.plane(z + 2)};
            residual(here, from, r, u.nx, fine, scratch, next);
            if (2 * rows.end == u.ny) residual(here, from, {r.at(u.ny), r.row}, u.nx, {0, 1}, scratch, next);
            wrap_ends(r, u.nx, {fine.begin, 2 * rows.end + 1});
            return r;
        };
        Plane below = make(2 * begin);
        for (std::int64_t z = begin; z < end; ++z) {
            const Plane here = make(2 * z + 1), above = make(2 * z + 2);
            restrict({below, here, above}, coarse.plane(z), coarse.nx, rows, scratch);
            below = above;
        }
    }
}

/// One worker's part of the planes on the way up: interpolation, residual and smoothing. Of its first and its
/// last plane the residual is whole and stays, since the workers beside it read it; of those between, three
/// in turn are in work.
class Cycle::Upward {
  public:
    Upward(Cycle& cycle, int k, bool restricts, int worker, int workers)
        : cycle_(cycle),
          k_(k),
          worker_(worker),
          workers_(workers),
          finest_(k == cycle.levels_.finest()),
          others_(cycle.levels_.halo(k).meets_others()),
          u_(cycle.levels_.level(k).u),
          v_(finest_ ? cycle.levels_.v() : cycle.levels_.level(k).r),
          w_(cycle.levels_.coarse_part(k, cycle.levels_.level(k - 1).u)),
          coarse_(cycle.levels_.coarse_part(k, cycle.levels_.level(k - 1).r)),
          part_(u_.nz, worker, workers),
          within_(part_),
          restricts_(restricts && within_.begin < within_.end),
          scratch_(cycle.levels_.scratch(worker)) {}

    /// First what neighbours need: the two planes at either end of the part, ...
    void interpolate_ends() const {
        for (const std::int64_t z : {part_.begin, part_.begin + 1, part_.end - 2, part_.end - 1})
            interpolate(z, whole());
        if (worker_ == 0) interpolate(-1, whole());
        if (worker_ == workers_ - 1) interpolate(u_.nz, whole());
    }
    /// ... then, when all have them, the residual of the first and the last.
    void residual_of_ends() const {
        if (part_.end - part_.begin > 4) interpolate(part_.begin + 2, whole());
        if (part_.end - part_.begin > 5) interpolate(part_.end - 3, whole());
        for (const std::int64_t z : {part_.begin, part_.end - 1}) {
            residual_of_plane(u_, v_, z, residual_at(z), scratch_);
            wrap(residual_at(z), u_.nx, u_.ny);
        }
    }
    /// Then the rest, strip by strip: interpolation two planes ahead, the residual one plane ahead, then what
    /// it smooths. A row's residual needs values interpolated a row further, and its smoothing residuals a
    /// row further: so interpolation is three rows ahead as well, and residuals, whose rows come in pairs,
    /// two. Last, a plane and some rows behind, what the next cycle begins with.
    void smooth_all() const {
        const std::int64_t ny = u_.ny, strip = strip_of(ny);
        for (std::int64_t y = 0; y < ny; y += strip) {
            const std::int64_t end = std::min(y + strip, ny);
            const bool first = y == 0, last = end == ny;
            const Rows interpolated{first ? -1 : y + 3, last ? ny + 1 : end + 3};
            const Rows made{first ? 0 : y + 2, last ? ny : end + 2};
            for (std::int64_t z = part_.begin; z < part_.end; ++z) {
                if (z > part_.begin && z + 2 < part_.end - 3) interpolate(z + 2, interpolated);
                if (z + 1 < part_.end - 1) make_residual(z + 1, made, first, last);
                smooth_rows({residual_at(z - 1), residual_at(z), residual_at(z + 1)}, z,
                            {first ? 1 : y, end});
                if (last) smooth_first_row(z);
                if (restricts_ && z > 2 * within_.begin && z <= 2 * within_.end + 1)
                    restrict_smoothed(z - 1, y, end);
            }
        }
    }

  private:
    [[nodiscard]] Rows whole() const { return {-1, u_.ny + 1}; }

    void interpolate(std::int64_t z, Rows rows) const {
        prolong(w_, u_.plane(z), z, !finest_, u_.nx, rows, scratch_);
    }

    /// Whether the residual of plane z is there for the whole sweep.
    [[nodiscard]] bool stays(std::int64_t z) const { return z <= part_.begin || z >= part_.end - 1; }

    [[nodiscard]] Plane residual_at(std::int64_t z) const {
        if (others_ && z < 0) return cycle_.from_below(k_);
        if (others_ && z == u_.nz) return cycle_.from_above(k_);
        if (z < part_.begin) return cycle_.window(k_, (worker_ + workers_ - 1) % workers_, kLast);
        if (z == part_.begin) return cycle_.window(k_, worker_, kFirst);
        if (z == part_.end - 1) return cycle_.window(k_, worker_, kLast);
        if (z == part_.end) return cycle_.window(k_, (worker_ + 1) % workers_, kFirst);
        return cycle_.window(k_, worker_, z % 3);
    }

    /// The residual of these rows of plane z. Those of the strip before that are needed again come from where
    /// they were kept, and those that the next one needs go there.
    void make_residual(std::int64_t z, Rows rows, bool first, bool last) const {
        const std::int64_t nx = u_.nx, ny = u_.ny;
        const Plane r = residual_at(z), before = cycle_.strip_before(k_, z),
                    round = cycle_.around_first_row(k_, z);
        if (!first) copy_rows(before, 0, r, rows.begin - 3, 3, nx);
        residual(slab(u_, z), v_.plane(z), r, nx, rows, scratch_, {v_.plane(z + 1), {}});
        wrap_ends(r, nx, rows);
        if (first) copy_rows(r, 0, round, 0, 2, nx);
        if (last) {
            copy_rows(r, ny - 1, round, -1, 1, nx);
            copy_rows(round, 0, r, ny, 1, nx);
        } else {
            copy_rows(r, rows.end - 3, before, 0, 3, nx);
        }
    }

    void smooth_rows(const Slab& r, std::int64_t z, Rows rows) const {
        const Plane next = {u_.plane(z + 3).at(3), u_.row};  // what is interpolated next
        smooth(r, u_.plane(z), cycle_.levels_.smoother(), false, u_.nx, rows, scratch_, {next, {}});
        wrap_ends(u_.plane(z), u_.nx, rows);
    }

    /// The residual of what has been smoothed in plane z, and with that of the two planes below a coarse one.
    /// A strip ends two coarse rows earlier than smoothing, and what two strips need is computed by both; the
    /// first row of all comes with the last.
    void restrict_smoothed(std::int64_t z, std::int64_t y, std::int64_t end) const {
        const std::int64_t ny = u_.ny;
        const bool first = y == 0, last = end == ny;
        const Rows rows{first ? 1 : y / 2 - 2, last ? ny / 2 : end / 2 - 2};
        const auto r = [&](std::int64_t at) { return cycle_.window(k_, worker_, kSmoothed + at % 3); };
        const auto make = [&](Plane v, Plane out, Rows fine) {
            residual(slab(u_, z), v, out, u_.nx, fine, scratch_, {});
            wrap_ends(out, u_.nx, fine);
        };
        make(v_.plane(z), r(z), {2 * rows.begin, last ? ny : 2 * rows.end + 2});
        if (last) {
            make(v_.plane(z), r(z), {0, 4});
            make(v_.plane(z), {r(z).at(ny), u_.row}, {0, 1});
        }
        if (z % 2 != 0 || z == 2 * within_.begin) return;
        const Slab three = {r(z - 2), r(z - 1), r(z)};
        const Plane out = coarse_.plane(z / 2 - 1);
        restrict(three, out, coarse_.nx, rows, scratch_);
        if (last) restrict(three, out, coarse_.nx, {0, 1}, scratch_);
    }

    /// It comes last, as it needs the residual's last row.
    void smooth_first_row(std::int64_t z) const {
        const auto around = [&](std::int64_t at) {
            return stays(at) ? residual_at(at) : cycle_.around_first_row(k_, at);
        };
        smooth_rows({around(z - 1), around(z), around(z + 1)}, z, {0, 1});
        wrap_rows(u_.plane(z), u_.nx, u_.ny);
    }

    Cycle& cycle_;
    int k_, worker_, workers_;
    bool finest_, others_;
    const Field &u_, &v_;
    Field w_, coarse_;
    Share part_;
    Within within_;
    bool restricts_;
    Scratch scratch_;
};

void Cycle::sweep_up(int k, bool restricts) {
    const auto each = [&](auto&& what) {
        group_.each([&](int worker, int workers) { what(Upward(*this, k, restricts, worker, workers)); });
    };
    each([](const Upward& part) { part.interpolate_ends(); });
    each([](const Upward& part) { part.residual_of_ends(); });
    if (levels_.halo(k).meets_others())
        levels_.halo(k).exchange_planes(memory(k, window(k, 0, kFirst)),
                                        memory(k, window(k, group_.workers() - 1, kLast)),
                                        memory(k, from_below(k)), memory(k, from_above(k)), group_);
    each([](const Upward& part) { part.smooth_all(); });
    within_done_ = restricts;
}

}  // namespace strata::npb::mg
