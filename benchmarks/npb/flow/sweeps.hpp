#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "benchmarks/npb/flow/domain.hpp"

namespace strata::npb::flow {

/// Eight lines of a cell side by side, one in each lane. Along x they are rows y0 to y0 + 7 of plane z; along
/// y and z they begin at x0 to x0 + 7.
struct Bundle {
    std::int64_t first = 0;   // y0, or x0
    std::int64_t second = 0;  // z, or y
};

/// The bundles of a cell in a direction, counted plane by plane (along z: row by row).
struct Bundles {
    std::int64_t begin, across, planes, offset;

    Bundles(const Tile& t, std::size_t direction)
        : begin(direction == 0 ? t.first(1) : 0),
          across(round_up(direction == 0 ? t.last(1) - t.first(1) : t.size[0]) / kLanes),
          planes(direction == 2 ? t.last(1) - t.first(1) : t.last(2) - t.first(2)),
          offset(direction == 2 ? t.first(1) : t.first(2)) {}
    [[nodiscard]] std::int64_t count() const { return across * planes; }
    [[nodiscard]] Bundle operator[](std::int64_t i) const {
        return {begin + i % across * kLanes, offset + i / across};
    }
};

/// An iteration of an approximate factorisation (RNR-94-007, section 3): the right-hand side, then systems
/// along the lines in x, y and z, the change of u being what comes out last.
///
/// A Scheme says how the systems are made and solved:
///   kValues, kFactors    vectors for each point of a bundle: what systems are made of, what elimination
///                        leaves for the way back
///   kForward, kBackward  vectors that elimination, and the way back, carry from point to point
///   gather<D>(cell, bundle, values)            reads a bundle
///   forward<D>(tile, values, factors, carry)   eliminates
///   backward<D>(tile, values, factors, carry)  substitutes
///   scatter<D>(cell, bundle, values)           writes the result; along z, adds it to u
template <class Scheme>
class Sweeps {
  public:
    Sweeps(Domain& domain, const Scheme& scheme, double dt) : domain_(domain), scheme_(scheme), dt_(dt) {
        const auto points = memory_points(domain.partition(), domain.group().workers());
        values_ = domain.group().template array<double>("lines", points * Scheme::kValues * kLanes);
        factors_ = domain.group().template array<double>("factors", points * Scheme::kFactors * kLanes);
    }

    [[nodiscard]] static std::vector<Need> needs(const Partition& partition, int workers) {
        const std::uint64_t bytes = memory_points(partition, workers) * kLanes * sizeof(double);
        return {{"lines under work", bytes * Scheme::kValues},
                {"what elimination leaves", bytes * Scheme::kFactors}};
    }

    void iterate() {
        if (domain_.group().size() == 1) return iterate_in_one_memory();
        domain_.exchange();
        domain_.evaluate(dt_);
        sweep_over_processes<0>();
        sweep_over_processes<1>();
        sweep_over_processes<2>();
    }

  private:
    /// A plane's right-hand side and its lines in x and y while it is in a cache; then the lines in z.
    void iterate_in_one_memory() {
        const Cell& cell = domain_.cells().front();
        const Tile& t = cell.tile;
        const auto solve = [&]<int D>(int worker, std::int64_t plane, const Bundles& bundles) {
            const std::size_t room = static_cast<std::size_t>(longest(t)) * kLanes;
            double* values = values_.data() + static_cast<std::size_t>(worker) * room * Scheme::kValues;
            double* factors = factors_.data() + static_cast<std::size_t>(worker) * room * Scheme::kFactors;
            for (std::int64_t i = plane * bundles.across; i < (plane + 1) * bundles.across; ++i) {
                const Bundle bundle = bundles[i];
                double* own = values + Scheme::kValues * kLanes;  // of point 0; one before it may be read
                scheme_.template gather<D>(cell, bundle, own);
                Vec carry[std::max(Scheme::kForward, Scheme::kBackward)]{};
                scheme_.template forward<D>(t, own, factors, carry);
                std::fill(std::begin(carry), std::end(carry), Vec{});
                scheme_.template backward<D>(t, own, factors, carry);
                scheme_.template scatter<D>(cell, bundle, own);
            }
        };
        domain_.group().each([&](int worker, int workers) {
            const Bundles x(t, 0), y(t, 1);
            const Share own(x.planes, worker, workers);
            Operator& operate = domain_.sweep(0, worker);
            for (std::int64_t plane = own.begin; plane < own.end; ++plane) {
                operate.plane(t.first(2) + plane, cell.forcing, cell.rhs, dt_);
                solve.template operator()<0>(worker, plane, x);
                solve.template operator()<1>(worker, plane, y);
            }
        });
        domain_.group().each([&](int worker, int workers) {
            const Bundles z(t, 2);
            const Share own(z.planes, worker, workers);
            for (std::int64_t row = own.begin; row < own.end; ++row)
                solve.template operator()<2>(worker, row, z);
        });
    }

    /// Slab by slab of cells: each process works on its cells of the slab and hands what elimination carries
    /// to the one that has the next slab's.
    template <int D>
    void sweep_over_processes() {
        const auto slabs = domain_.partition().cuts()[D];
        in_.clear();
        for (std::int64_t slab = 0; slab < slabs; ++slab) {
            each_bundle<D>(slab, Scheme::kForward,
                           [&](const Cell& cell, Bundle bundle, double* values, double* factors, Vec* carry) {
                               scheme_.template gather<D>(cell, bundle, values);
                               scheme_.template forward<D>(cell.tile, values, factors, carry);
                           });
            if (slab + 1 < slabs) hand_on<D>(slab, slab + 1, Scheme::kForward);
        }
        in_.clear();
        for (std::int64_t slab = slabs - 1; slab >= 0; --slab) {
            each_bundle<D>(slab, Scheme::kBackward,
                           [&](const Cell& cell, Bundle bundle, double* values, double* factors, Vec* carry) {
                               scheme_.template backward<D>(cell.tile, values, factors, carry);
                               scheme_.template scatter<D>(cell, bundle, values);
                           });
            if (slab > 0) hand_on<D>(slab, slab - 1, Scheme::kBackward);
        }
    }

    /// A cell of a slab: how many bundles come before its own, and points of memory.
    struct Part {
        const Cell* cell;
        Bundles bundles;
        std::int64_t before;
        std::size_t memory;
    };
    template <int D>
    [[nodiscard]] std::vector<Part> parts_of(std::int64_t slab, std::int64_t& count) const {
        std::vector<Part> parts;
        std::size_t memory = 0;
        count = 0;
        for (const Cell& cell : domain_.cells()) {
            const Bundles bundles(cell.tile, D);
            if (cell.place[D] == slab) {
                parts.push_back({&cell, bundles, count, memory});
                count += bundles.count();
            }
            memory += static_cast<std::size_t>(bundles.count() * longest(cell.tile));
        }
        return parts;
    }

    /// body(cell, bundle, values, factors, carry) for the bundles of this process's cells in a slab. What is
    /// carried comes from in_ (nothing, where it is empty: zeros at the grid's boundary) and goes to out_.
    template <int D, class Body>
    void each_bundle(std::int64_t slab, int carried, Body&& body) {
        const auto vectors = static_cast<std::size_t>(carried);
        std::int64_t count = 0;
        const std::vector<Part> parts = parts_of<D>(slab, count);
        out_.resize(static_cast<std::size_t>(count) * vectors * kLanes);
        if (in_.empty()) in_.assign(out_.size(), 0.0);
        domain_.group().each_part(count, [&](std::int64_t begin, std::int64_t end) {
            for (const Part& part : parts) {
                const std::int64_t last = std::min(end - part.before, part.bundles.count());
                for (std::int64_t i = std::max<std::int64_t>(begin - part.before, 0); i < last; ++i) {
                    const auto length = static_cast<std::size_t>(longest(part.cell->tile));
                    const std::size_t at = (part.memory + static_cast<std::size_t>(i) * length) * kLanes;
                    const std::size_t place = static_cast<std::size_t>(part.before + i) * vectors * kLanes;
                    Vec carry[std::max(Scheme::kForward, Scheme::kBackward)];
                    for (std::size_t v = 0; v < vectors; ++v) carry[v] = load(&in_[place + v * kLanes]);
                    body(*part.cell, part.bundles[i], values_.data() + (at + kLanes) * Scheme::kValues,
                         factors_.data() + at * Scheme::kFactors, carry);
                    for (std::size_t v = 0; v < vectors; ++v) store(&out_[place + v * kLanes], carry[v]);
                }
            }
        });
    }

    /// Sends what is carried out of one slab to where the next one is, and takes what comes into this
    /// process's cells there.
    template <int D>
    void hand_on(std::int64_t slab, std::int64_t next, int carried) {
        std::int64_t count = 0;
        (void)parts_of<D>(next, count);
        in_.resize(static_cast<std::size_t>(count * carried * kLanes));
        const std::int64_t step = next - slab;
        const Shift shift{domain_.partition().neighbour(D, step), domain_.partition().neighbour(D, -step),
                          std::as_bytes(std::span(out_)), std::as_writable_bytes(std::span(in_))};
        domain_.group().exchange(std::span(&shift, 1));
    }

    /// Points of a bundle's memory: a line in any direction, in eights, and one before and behind.
    [[nodiscard]] static std::int64_t longest(const Tile& t) {
        return round_up(*std::max_element(t.size.begin(), t.size.end())) + 2;
    }
    /// Of all bundles together: one for each worker, or all that a process has under way.
    [[nodiscard]] static std::size_t memory_points(const Partition& partition, int workers) {
        const auto& cells = partition.cells();
        if (partition.cuts() == Index{1, 1, 1})
            return static_cast<std::size_t>(longest(partition.tile(cells.front())) * workers);
        std::int64_t most = 0;
        for (std::size_t d = 0; d < 3; ++d) {
            std::int64_t points = 0;
            for (const Index& cell : cells) {
                const Tile t = partition.tile(cell);
                points += Bundles(t, d).count() * longest(t);
            }
            most = std::max(most, points);
        }
        return static_cast<std::size_t>(most);
    }

    Domain& domain_;
    const Scheme& scheme_;
    double dt_;
    std::span<double> values_, factors_;
    std::vector<double> in_, out_;
};

}  // namespace strata::npb::flow
