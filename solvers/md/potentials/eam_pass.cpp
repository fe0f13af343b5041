// Both passes as a kernel for the processor's vectors, as that of Lennard-Jones (pair/forces.cpp): eight
// atoms against one cluster of four, after the other. A couple of the eight with the cluster are eight pairs.
// The coefficients of a pair's pieces are gathered from tables; where these have the same row for both atoms,
// as of one kind, it is gathered once. What lies beyond the cutoff adds zeros.
#include "solvers/md/potentials/eam_pass.hpp"

#include <cstring>

#include "core/lanes/wide.hpp"
#include "solvers/md/pair/packed.hpp"

namespace strata::md {

namespace {

using Lanes = Wide<double>;
using Numbers = Wholes<double>;

template <bool one_kind, bool forces, bool sums>
class Pass {
    static constexpr int kValues = forces ? 3 : 1;  // that are added up of each atom

  public:
    /// slopes: F' by slots, of the second pass.
    Pass(const Eam& eam, const double* slopes)
        : density_(eam.density_rows()),
          pair_(eam.pair_rows()),
          slopes_(slopes),
          kinds_(eam.kinds()),
          rows_(eam.rows()),
          per_step_(eam.per_step()),
          last_(static_cast<double>(rows_)),
          last_row_(static_cast<double>(rows_ - 1)),
          limit_(eam.cutoff() * eam.cutoff()) {}

    /// Adds to `to`, by slots: rho (four values a cluster), or forces (kPerCluster). Returns the energy of
    /// pairs.
    double go(const Pairs& pairs, const double* x, double* to) const {
        constexpr std::size_t kTo = forces ? kPerCluster : kCluster;
        double energy = 0;
        const Pairs::List& list = pairs.list();
        for (std::size_t eight = 0; eight + 1 < list.begin.size(); ++eight) {
            Eight at;
            start(at, 2 * eight, x);
            inside(at, 2 * eight, x, to);
            for (const std::uint32_t entry : list.of(eight)) {
                const std::size_t other = entry / kWhich;
                Other b;
                load(b, other, x);
                repeat<kCouples>([&](auto k) {
                    if ((entry >> k & 1U) != 0) add(at.couples[k], b, at.energy);
                });
                settle_on(b, to + kTo * other);
            }
            repeat<kCouples>([&](auto k) {
                repeat<kValues>([&](auto v) {
                    collect(to + kTo * (2 * eight + k / 2) + 4 * v + k % 2 * 2, at.couples[k].sum[v]);
                });
            });
            if constexpr (sums) energy += total(at.energy);
        }
        return energy;
    }

  private:
    struct Couple {
        Lanes x[3], slope, sum[kValues];
        Numbers kind;
    };
    struct Eight {
        Couple couples[kCouples];
        Lanes energy;
    };
    struct Other {
        Lanes x[3], slope, sum[kValues];
        Numbers kind;
    };

    [[gnu::always_inline]] void start(Eight& at, std::size_t cluster, const double* x) const {
        at.energy = Lanes(0);
        repeat<kCouples>([&](auto k) {
            Couple& couple = at.couples[k];
            const std::size_t from = cluster + k / 2, l = k % 2 * 2;
            for (std::size_t c = 0; c < 3; ++c) couple.x[c] = each(x + kPerCluster * from + 4 * c + l);
            for (Lanes& sum : couple.sum) sum = Lanes(0);
            if constexpr (forces) couple.slope = each(slopes_ + kCluster * from + l);
            if constexpr (!one_kind) couple.kind = wholes(each(x + kPerCluster * from + 12 + l));
        });
    }
    [[gnu::always_inline]] void load(Other& b, std::size_t cluster, const double* x) const {
        for (std::size_t c = 0; c < 3; ++c) b.x[c] = spread(x + kPerCluster * cluster + 4 * c);
        for (Lanes& sum : b.sum) sum = Lanes(0);
        if constexpr (forces) b.slope = spread(slopes_ + kCluster * cluster);
        if constexpr (!one_kind) b.kind = wholes(spread(x + kPerCluster * cluster + 12));
    }
    [[gnu::always_inline]] static void settle_on(const Other& b, double* to) {
        if constexpr (forces)
            settle(to, b.sum[0], b.sum[1], b.sum[2]);
        else
            take<double>(to, quad(b.sum[0], 0) + quad(b.sum[0], 1));
    }

    /// The pieces of functions of a kind, or of two: all have as many.
    [[gnu::always_inline]] Numbers of_kind(const Numbers& row, const Numbers& kind) const {
        return plus(row, times(kind, rows_));
    }
    [[gnu::always_inline]] static Lanes value(const double* table, const Numbers& row, const Lanes& t) {
        Lanes y = column(table, row, 3);
        for (int k = 2; k >= 0; --k) y = fma(y, t, column(table, row, k));
        return y;
    }
    /// In units of the step.
    [[gnu::always_inline]] static Lanes slope(const Lanes& c1, const Lanes& c2, const Lanes& c3,
                                              const Lanes& t) {
        return fma(fma(Lanes(3) * c3, t, c2 + c2), t, c1);
    }
    [[gnu::always_inline]] static Lanes slope(const double* table, const Numbers& row, const Lanes& t) {
        return slope(column(table, row, 1), column(table, row, 2), column(table, row, 3), t);
    }

    /// Eight pairs. apart: added to the square of a distance.
    template <bool masked = false>
    [[gnu::always_inline]] void add(Couple& a, Other& b, Lanes& energy, const Lanes& apart = Lanes()) const {
        Lanes d[3];
        repeat<3>([&](auto c) { d[c] = a.x[c] - b.x[c]; });
        Lanes square = fma(d[2], d[2], fma(d[1], d[1], d[0] * d[0]));
        if constexpr (masked) square = square + apart;
        const Lanes r = sqrt(square), knots = least(r * per_step_, last_);
        // The last knot belongs to the last row.
        const Numbers at = truncated(least(knots, last_row_));
        const Lanes t = knots - reals(at);
        if constexpr (!forces) {
            const Lanes of_b = value(density_, one_kind ? at : of_kind(at, b.kind), t);
            const Lanes of_a = one_kind ? of_b : value(density_, of_kind(at, a.kind), t);
            a.sum[0] = a.sum[0] + within(square, limit_, of_b);
            b.sum[0] = b.sum[0] - within(square, limit_, of_a);
            return;
        }
        const Lanes inverse = r * inverse_within(square, limit_);  // 0 beyond the cutoff
        const Lanes of_b = slope(density_, one_kind ? at : of_kind(at, b.kind), t);
        const Lanes of_a = one_kind ? of_b : slope(density_, of_kind(at, a.kind), t);
        const Numbers both = one_kind ? at : of_kind(at, plus(times(a.kind, kinds_), b.kind));
        const Lanes c1 = column(pair_, both, 1), c2 = column(pair_, both, 2), c3 = column(pair_, both, 3);
        const Lanes z = fma(fma(fma(c3, t, c2), t, c1), t, column(pair_, both, 0));
        const Lanes phi = z * inverse;
        const Lanes embedded = fma(b.slope, of_a, fma(a.slope, of_b, Lanes(0)));
        const Lanes change =
            fma(embedded, per_step_, fma(slope(c1, c2, c3, t), per_step_, Lanes(0) - phi) * inverse);
        const Lanes pull = (Lanes(0) - change) * inverse;
        repeat<3>([&](auto c) {
            a.sum[c] = fma(pull, d[c], a.sum[c]);
            b.sum[c] = fma(pull, d[c], b.sum[c]);
        });
        if constexpr (sums) energy = energy + phi;
    }

    /// Pairs among the eight: each once. What is not a pair is as far apart as no cutoff reaches.
    [[gnu::always_inline]] void inside(Eight& at, std::size_t cluster, const double* x, double* to) const {
        constexpr std::size_t kTo = forces ? kPerCluster : kCluster;
        Lanes above[2];
        for (int part = 0; part < 2; ++part) {
            double lanes[Lanes::kLanes];
            for (int l = 0; l < Lanes::kLanes; ++l) lanes[l] = l % 4 > part * 2 + l / 4 ? 0 : 1e30;
            std::memcpy(above[part].of, lanes, sizeof lanes);
        }
        Other b;
        load(b, cluster, x);
        repeat<2>([&](auto k) { add<true>(at.couples[k], b, at.energy, above[k]); });
        settle_on(b, to + kTo * cluster);
        load(b, cluster + 1, x);
        repeat<2>([&](auto k) { add(at.couples[k], b, at.energy); });
        repeat<2>([&](auto k) { add<true>(at.couples[k + 2], b, at.energy, above[k]); });
        settle_on(b, to + kTo * (cluster + 1));
    }

    const double *density_, *pair_, *slopes_;
    std::int64_t kinds_, rows_;
    Lanes per_step_, last_, last_row_, limit_;
};

std::size_t slots_of(const Pairs& pairs) { return pairs.own().atoms().size() + pairs.halo().atoms().size(); }

/// Calls each(slot, atom).
template <class Each>
void by_slots(const Pairs& pairs, Each each) {
    std::size_t slot = 0;
    for (const Clusters* clusters : {&pairs.own(), &pairs.halo()})
        for (const std::int32_t atom : clusters->atoms()) {
            if (atom >= 0) each(slot, atom);
            ++slot;
        }
}

}  // namespace

void add_densities(const Pairs& pairs, const Sight& sight, const Eam& eam, double* rho) {
    const double* const x = pack<double>(pairs, sight);
    double* const by_slot = scratch<double, 1>(slots_of(pairs));
    std::memset(by_slot, 0, slots_of(pairs) * sizeof(double));
    if (sight.species == nullptr)
        Pass<true, false, false>(eam, nullptr).go(pairs, x, by_slot);
    else
        Pass<false, false, false>(eam, nullptr).go(pairs, x, by_slot);
    by_slots(pairs, [&](std::size_t slot, std::int32_t atom) { rho[atom] += by_slot[slot]; });
}

double embed(const Eam& eam, const std::int32_t* species, const double* rho, std::int64_t count,
             double* slopes) {
    double energy = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const KnotFunction::Value f = eam.embedding(species == nullptr ? 0 : species[i], rho[i]);
        energy += f.y;
        slopes[i] = f.slope;
    }
    return energy;
}

Sums add_eam_forces(const Pairs& pairs, const Sight& sight, const Eam& eam, const double* slopes, bool sums,
                    double* const f[3]) {
    const double* const x = pack<double>(pairs, sight);
    double* const by_slot = scratch<double, 1>(4 * slots_of(pairs));
    std::memset(by_slot, 0, 4 * slots_of(pairs) * sizeof(double));
    double* const slope = scratch<double, 2>(slots_of(pairs));
    std::memset(slope, 0, slots_of(pairs) * sizeof(double));
    by_slots(pairs, [&](std::size_t slot, std::int32_t atom) { slope[slot] = slopes[atom]; });
    Sums found;
    const auto go = [&]<bool with>(std::bool_constant<with>) {
        found.energy = sight.species == nullptr ? Pass<true, true, with>(eam, slope).go(pairs, x, by_slot)
                                                : Pass<false, true, with>(eam, slope).go(pairs, x, by_slot);
        unpack<double, with>(pairs, x, by_slot, f, found.virial);
    };
    if (sums)
        go(std::true_type{});
    else
        go(std::false_type{});
    return found;
}

}  // namespace strata::md
