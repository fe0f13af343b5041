#pragma once

#include <optional>

#include "benchmarks/npb/flow/domain.hpp"
#include "benchmarks/npb/flow/lines.hpp"

namespace strata::npb::flow {

/// An iteration of an approximate factorisation over a grid that one process has, or several in
/// multi-partition; `Scheme` as Lines says.
template <class Scheme>
class Sweeps {
  public:
    Sweeps(Domain& domain, const Scheme& scheme, double dt) : domain_(domain), scheme_(scheme), dt_(dt) {
        if (in_one_memory(domain.partition())) {
            lines_.emplace(domain, scheme, dt);
            return;
        }
        const std::size_t points = memory_points(domain.partition()) * kLanes;
        values_ = domain.group().template array<double>("lines", points * Scheme::kValues);
        factors_ = domain.group().template array<double>("factors", points * Scheme::kFactors);
    }

    [[nodiscard]] static std::vector<Need> needs(const Partition& partition, int workers) {
        return in_one_memory(partition) ? Lines<Scheme>::needs(partition.tiles(), workers)
                                        : Lines<Scheme>::needs_of(memory_points(partition));
    }

    void iterate() {
        if (lines_) {
            domain_.each([&](const Work& work) { lines_->planes(work); });
            domain_.each([&](const Work& work) { lines_->rows(work); });
            return;
        }
        domain_.exchange();
        domain_.evaluate(dt_);
        sweep_over_processes<0>();
        sweep_over_processes<1>();
        sweep_over_processes<2>();
    }

  private:
    [[nodiscard]] static bool in_one_memory(const Partition& partition) {
        return partition.cuts() == Index{1, 1, 1};
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
            memory += static_cast<std::size_t>(bundles.count() * longest_line(cell.tile));
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
                    const auto length = static_cast<std::size_t>(longest_line(part.cell->tile));
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

    /// Points of the memory of all bundles that a process has under way.
    [[nodiscard]] static std::size_t memory_points(const Partition& partition) {
        std::int64_t most = 0;
        for (std::size_t d = 0; d < 3; ++d) {
            std::int64_t points = 0;
            for (const Tile& t : partition.tiles()) points += Bundles(t, d).count() * longest_line(t);
            most = std::max(most, points);
        }
        return static_cast<std::size_t>(most);
    }

    Domain& domain_;
    const Scheme& scheme_;
    double dt_;
    std::optional<Lines<Scheme>> lines_;  // where there is one process
    std::span<double> values_, factors_;
    std::vector<double> in_, out_;
};

}  // namespace strata::npb::flow
