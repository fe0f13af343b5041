// The Lennard-Jones kernel: eight atoms against one cluster of four, after the other. A row is four of the
// eight with the four of the cluster, sixteen pairs: one Wide of floats or two of doubles. The forces on the
// cluster are summed over both rows in registers, and its memory is touched once (Newton's third law).
//
// A row in float takes 20 vector instructions and a division (3 differences, 3 for the square of the
// distance, comparison and inverse, 5 for the force, 6 to add it to both sides); a cluster takes 9 more. Two
// are done in a cycle: some 11 cycles for 16 pairs, and 5 for each cluster.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/lanes/wide.hpp"
#include "solvers/md/pair/packed.hpp"
#include "solvers/md/pair/pairs.hpp"

namespace strata::md {

namespace {

/// What the kernel needs of two species.
enum Parameter { kTwelve, kMinusSix, kSquare, kEnergyAtCut, kForceAtCut, kCut, kParameters };

/// How parameters are found: the same for all pairs, in registers, or in memory.
enum class Kinds { one, few, many };
inline constexpr int kFew = 4;

/// Tables [species * species] of a potential; of up to four species they fill one Wide of floats, two of
/// doubles.
template <class Real>
struct Tables {
    int species;
    Real of[kParameters][16] = {};
    std::vector<Real> more[kParameters];

    explicit Tables(const LennardJones& p) : species(p.species) {
        const std::size_t count = static_cast<std::size_t>(species) * static_cast<std::size_t>(species);
        const bool in_registers = species <= kFew;
        if (!in_registers)
            for (auto& table : more) table.resize(count);
        for (std::size_t s = 0; s < count; ++s) {
            const double eps = p.epsilon[s], cut = p.cutoff[s], six = std::pow(p.sigma[s], 6);
            const double inverse = 1 / (cut * cut), six_cut = six * inverse * inverse * inverse;
            const double force = 24 * eps * six_cut * (2 * six_cut - 1) / cut;
            const double energy = 4 * eps * six_cut * (six_cut - 1);
            const double shift = p.shift == Shift::none     ? 0
                                 : p.shift == Shift::energy ? energy
                                                            : energy + cut * force;
            const double all[kParameters] = {
                48 * eps * six * six, -24 * eps * six, cut * cut, shift, force, cut};
            for (int k = 0; k < kParameters; ++k)
                (in_registers ? of[k] : more[k].data())[s] = static_cast<Real>(all[k]);
        }
    }
};

template <class Real, Kinds kinds>
class Law {
  public:
    explicit Law(const Tables<Real>& tables) : tables_(tables) {
        for (int k = 0; k < kParameters; ++k) same_[k] = Wide<Real>(tables.of[k][0]);
    }
    /// The numbers of a row's four species, where parameters differ: times how many there are.
    [[nodiscard, gnu::always_inline]] Wide<Real> rows(const Real* species, int part) const {
        Wide<Real> r = each(species + part * Wide<Real>::kQuads);
        if constexpr (kinds != Kinds::one) {
            Wholes<Real> w = wholes(r);
            for (auto& piece : w.of) piece *= static_cast<Whole<Real>>(tables_.species);
            std::memcpy(r.of, w.of, sizeof r.of);
        }
        return r;
    }
    template <int parameter>
    [[nodiscard, gnu::always_inline]] Wide<Real> get(const Wide<Real>& row, const Wide<Real>& other) const {
        if constexpr (kinds == Kinds::one) return same_[parameter];
        Wholes<Real> at = wholes(row);
        const Wholes<Real> to = wholes(other);
        for (int k = 0; k < Wide<Real>::kPieces; ++k) at.of[k] += to.of[k];
        Wide<Real> r;
#ifdef __AVX512F__
        if constexpr (kinds == Kinds::few && sizeof(Real) == 4) {
            r.of[0] = _mm512_permutexvar_ps((__m512i)at.of[0], _mm512_loadu_ps(tables_.of[parameter]));
            return r;
        } else if constexpr (kinds == Kinds::few) {
            r.of[0] = _mm512_permutex2var_pd(_mm512_loadu_pd(tables_.of[parameter]), (__m512i)at.of[0],
                                             _mm512_loadu_pd(tables_.of[parameter] + 8));
            return r;
        } else if constexpr (sizeof(Real) == 4) {
            r.of[0] = _mm512_i32gather_ps((__m512i)at.of[0], tables_.more[parameter].data(), 4);
            return r;
        } else {
            r.of[0] = _mm512_i64gather_pd((__m512i)at.of[0], tables_.more[parameter].data(), 8);
            return r;
        }
#else
        const Real* const table =
            tables_.species <= kFew ? tables_.of[parameter] : tables_.more[parameter].data();
        for (int k = 0; k < Wide<Real>::kPieces; ++k)
            for (std::size_t l = 0; l < kRegister / sizeof(Real); ++l) r.of[k][l] = table[at.of[k][l]];
        return r;
#endif
    }

  private:
    const Tables<Real>& tables_;
    Wide<Real> same_[kParameters];
};

template <class Real>
using Vector3 = Wide<Real>[3];

template <class Real, Kinds kinds, bool shifted, bool sums>
class Kernel {
  public:
    Kernel(const LennardJones& potential) : tables_(potential), law_(tables_) {}

    /// Forces of all pairs, by slots; returns the energy.
    double go(const Pairs& pairs, const Real* x, Real* f) const {
        double energy = 0;
        const Pairs::List& list = pairs.list();
        for (std::size_t eight = 0; eight + 1 < list.begin.size(); ++eight) {
            Eight at;
            start(at, x + 2 * eight * kPerCluster);
            inside(at, x + 2 * eight * kPerCluster, f + 2 * eight * kPerCluster);
            for (const std::uint32_t entry : list.of(eight)) {
                const std::size_t other = entry / kWhich * kPerCluster;
                cluster(at, x + other, f + other, entry % kWhich);
            }
            repeat<2>([&](auto row) {
                repeat<kParts>([&](auto part) {
                    repeat<3>([&](auto c) {
                        Real* const to = f + (2 * eight + static_cast<std::size_t>(row)) * kPerCluster;
                        const Wide<Real> sum = at.rows[row].f[part][c];
                        collect(to + 4 * c + part * kQuads, sum);
                    });
                });
            });
            if constexpr (sums) energy += total(at.energy);
        }
        return energy;
    }

  private:
    static constexpr int kQuads = Wide<Real>::kQuads, kParts = kCluster / kQuads;
    struct Row {
        Vector3<Real> x[kParts], f[kParts];
        Wide<Real> kind[kParts];
    };
    struct Eight {
        Row rows[2];
        Wide<Real> energy;
    };
    struct Other {
        Vector3<Real> x, f;
        Wide<Real> kind;
    };

    [[gnu::always_inline]] void start(Eight& at, const Real* x) const {
        at.energy = Wide<Real>(0);
        repeat<2>([&](auto row) {
            repeat<kParts>([&](auto part) {
                const Real* const from = x + row * static_cast<int>(kPerCluster);
                repeat<3>([&](auto c) {
                    at.rows[row].x[part][c] = each(from + 4 * c + part * kQuads);
                    at.rows[row].f[part][c] = Wide<Real>(0);
                });
                at.rows[row].kind[part] = law_.rows(from + 12, part);
            });
        });
    }

    /// A part of a row with a cluster. first: it begins the sum of forces on the cluster. apart: added to the
    /// square of a distance.
    template <int part, bool first, bool masked = false>
    [[gnu::always_inline]] void pairs(Row& row, Other& other, Wide<Real>& energy,
                                      const Wide<Real>* apart = nullptr) const {
        Wide<Real> d[3];
        repeat<3>([&](auto c) { d[c] = row.x[part][c] - other.x[c]; });
        Wide<Real> square = fma(d[2], d[2], fma(d[1], d[1], d[0] * d[0]));
        if constexpr (masked) square = square + apart[part];
        const auto get = [&]<int parameter>(std::integral_constant<int, parameter>) {
            return law_.template get<parameter>(row.kind[part], other.kind);
        };
        const Wide<Real> limit = get(std::integral_constant<int, kSquare>{});
        const Wide<Real> two = inverse_within(square, limit), four = two * two, six = four * two;
        const Wide<Real> twelve = get(std::integral_constant<int, kTwelve>{});
        const Wide<Real> minus_six = get(std::integral_constant<int, kMinusSix>{});
        Wide<Real> pull = fma(twelve, six, minus_six) * (four * four);
        if constexpr (shifted) pull = pull - get(std::integral_constant<int, kForceAtCut>{}) * sqrt(two);
        repeat<3>([&](auto c) {
            row.f[part][c] = fma(pull, d[c], row.f[part][c]);
            other.f[c] = first ? pull * d[c] : fma(pull, d[c], other.f[c]);
        });
        if constexpr (sums) {
            const Wide<Real> sixth(Real(1) / 6), half(Real(0.5));
            Wide<Real> u = fma(twelve * half, six, minus_six) * sixth * six -
                           get(std::integral_constant<int, kEnergyAtCut>{});
            if constexpr (shifted)
                u = u + get(std::integral_constant<int, kForceAtCut>{}) * (square * sqrt(two));
            energy = energy + within(square, limit, u);
        }
    }
    /// All parts of a row.
    template <bool first, bool masked = false>
    [[gnu::always_inline]] void whole(Row& row, Other& other, Wide<Real>& energy,
                                      const Wide<Real>* apart = nullptr) const {
        repeat<kParts>([&](auto part) __attribute__((always_inline)) {
            pairs<part(), first && part() == 0, masked>(row, other, energy, apart);
        });
    }

    [[gnu::always_inline]] static void load(Other& other, const Real* x) {
        repeat<3>([&](auto c) { other.x[c] = spread(x + 4 * c); });
        if constexpr (kinds != Kinds::one) other.kind = spread(x + 12);
    }

    /// A part is a couple of atoms or, in float, two couples: those that are near the cluster are computed.
    [[gnu::always_inline]] void cluster(Eight& at, const Real* x, Real* f, std::uint32_t which) const {
        constexpr std::uint32_t kPart = (1U << kCouples / 2 / kParts) - 1;
        Other other;
        load(other, x);
        if (which == kAll) {
            whole<true>(at.rows[0], other, at.energy);
            whole<false>(at.rows[1], other, at.energy);
        } else {
            for (auto& along : other.f) along = Wide<Real>(0);
            repeat<2>([&](auto row) {
                repeat<kParts>([&](auto part) {
                    if ((which >> (row * 2 + part) & kPart) != 0)
                        pairs<part(), false>(at.rows[row], other, at.energy);
                });
            });
        }
        settle(f, other.f[0], other.f[1], other.f[2]);
    }

    /// Pairs among the eight: each once. What is not a pair is as far apart as no cutoff reaches.
    [[gnu::always_inline]] void inside(Eight& at, const Real* x, Real* f) const {
        Wide<Real> above[kParts];
        for (int part = 0; part < kParts; ++part) {
            Real lanes[Wide<Real>::kLanes];
            for (int l = 0; l < Wide<Real>::kLanes; ++l)
                lanes[l] = l % 4 > part * kQuads + l / 4 ? Real(0) : Real(1e30);
            std::memcpy(above[part].of, lanes, sizeof lanes);
        }
        Other other;
        load(other, x);
        whole<true, true>(at.rows[0], other, at.energy, above);
        settle(f, other.f[0], other.f[1], other.f[2]);
        load(other, x + kPerCluster);
        whole<true>(at.rows[0], other, at.energy);
        whole<false, true>(at.rows[1], other, at.energy, above);
        settle(f + kPerCluster, other.f[0], other.f[1], other.f[2]);
    }

    Tables<Real> tables_;
    Law<Real, kinds> law_;
};

template <class Real, Kinds kinds, bool shifted, bool sums>
Sums compute(const Pairs& pairs, const Sight& sight, const LennardJones& potential, double* const f[3]) {
    Sums result;
    const Real* const x = pack<Real>(pairs, sight);
    const std::size_t values = (pairs.own().atoms().size() + pairs.halo().atoms().size()) * 4;
    Real* const by_slot = scratch<Real, 1>(values);
    std::memset(by_slot, 0, values * sizeof(Real));
    result.energy = Kernel<Real, kinds, shifted, sums>(potential).go(pairs, x, by_slot);
    unpack<Real, sums>(pairs, x, by_slot, f, result.virial);
    return result;
}

template <class Real, Kinds kinds>
Sums chosen(const Pairs& pairs, const Sight& sight, const LennardJones& potential, bool sums,
            double* const f[3]) {
    if (potential.shift == Shift::force)
        return sums ? compute<Real, kinds, true, true>(pairs, sight, potential, f)
                    : compute<Real, kinds, true, false>(pairs, sight, potential, f);
    return sums ? compute<Real, kinds, false, true>(pairs, sight, potential, f)
                : compute<Real, kinds, false, false>(pairs, sight, potential, f);
}

template <class Real>
Sums chosen(const Pairs& pairs, const Sight& sight, const LennardJones& potential, bool sums,
            double* const f[3]) {
    if (potential.species == 1) return chosen<Real, Kinds::one>(pairs, sight, potential, sums, f);
#ifdef __AVX512F__  // others have no registers in which lanes are looked up
    if (potential.species <= kFew) return chosen<Real, Kinds::few>(pairs, sight, potential, sums, f);
#endif
    return chosen<Real, Kinds::many>(pairs, sight, potential, sums, f);
}

}  // namespace

Sums Pairs::forces(const Sight& sight, const LennardJones& potential, Precision precision, bool sums,
                   double* const f[3]) const {
    return precision == Precision::mixed ? chosen<float>(*this, sight, potential, sums, f)
                                         : chosen<double>(*this, sight, potential, sums, f);
}

}  // namespace strata::md
