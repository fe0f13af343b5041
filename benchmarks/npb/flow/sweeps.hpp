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
        std::int64_t most = 0;
        for (const Tile& t : domain.partition().tiles()) length_ = std::max(length_, longest_line(t));
        for (std::size_t d = 0; d < 3; ++d) {
            // All processes must agree: they exchange at the end of each portion.
            const auto own = static_cast<double>(portions(domain.partition(), d, domain.group().workers()));
            portions_[d] = static_cast<std::int64_t>(domain.group().max(own));
            const std::int64_t slabs = domain.partition().cuts()[d];
            for (std::int64_t slab = 0; slab < slabs; ++slab) {
                std::int64_t count = 0;
                (void)parts_of(d, slab, count);
                room_[d] = std::max(room_[d], (count + portions_[d] - 1) / portions_[d] * length_);
            }
            most = std::max(most, room_[d] * slabs);
        }
        const std::size_t points = static_cast<std::size_t>(most) * kLanes;
        values_ = domain.group().template array<double>("lines", points * Scheme::kValues);
        factors_ = domain.group().template array<double>("factors", points * Scheme::kFactors);
    }

    [[nodiscard]] static std::vector<Need> needs(const Partition& partition, int workers) {
        return in_one_memory(partition) ? Lines<Scheme>::needs(partition.tiles(), workers)
                                        : Lines<Scheme>::needs_of(memory_points(partition, workers));
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

    /// Portions of the lines, so that what elimination leaves is in a cache when the way back needs it; not
    /// so many that messages become short.
    [[nodiscard]] static std::int64_t portions(const Partition& partition, std::size_t d, int workers) {
        constexpr std::int64_t kCache = std::int64_t{1} << 20, kMost = 32;
        std::int64_t points = 0;
        for (const Tile& t : partition.tiles()) points += Bundles(t, d).count() * longest_line(t);
        const auto bytes =
            points * kLanes * std::int64_t{sizeof(double)} * (Scheme::kValues + Scheme::kFactors);
        return std::clamp<std::int64_t>(bytes / (kCache * workers), 1, kMost);
    }

    template <int D>
    void sweep_over_processes() {
        for (std::int64_t portion = 0; portion < portions_[D]; ++portion) sweep<D>(portion);
    }

    /// A portion of the lines, slab by slab of cells: each process works on its cells of the slab and hands
    /// what elimination carries to the one that has the next slab's.
    template <int D>
    void sweep(std::int64_t portion) {
        const auto slabs = domain_.partition().cuts()[D];
        in_.clear();
        for (std::int64_t slab = 0; slab < slabs; ++slab) {
            each_bundle<D>(slab, portion, Scheme::kForward,
                           [&](const Cell& cell, Bundle bundle, double* values, double* factors, Vec* carry) {
                               scheme_.template gather<D>(cell, bundle, values);
                               scheme_.template forward<D>(cell.tile, values, factors, carry);
                           });
            if (slab + 1 < slabs) hand_on<D>(slab, slab + 1, portion, Scheme::kForward);
        }
        in_.clear();
        for (std::int64_t slab = slabs - 1; slab >= 0; --slab) {
            each_bundle<D>(slab, portion, Scheme::kBackward,
                           [&](const Cell& cell, Bundle bundle, double* values, double* factors, Vec* carry) {
                               scheme_.template backward<D>(cell.tile, values, factors, carry);
                               scheme_.template scatter<D>(cell, bundle, values);
                           });
            if (slab > 0) hand_on<D>(slab, slab - 1, portion, Scheme::kBackward);
        }
    }

    /// A cell of a slab, and how many bundles come before its own.
    struct Part {
        const Cell* cell;
        Bundles bundles;
        std::int64_t before;
    };
    [[nodiscard]] std::vector<Part> parts_of(std::size_t d, std::int64_t slab, std::int64_t& count) const {
        std::vector<Part> parts;
        count = 0;
        for (const Cell& cell : domain_.cells()) {
            if (cell.place[d] != slab) continue;
            parts.push_back({&cell, Bundles(cell.tile, d), count});
            count += parts.back().bundles.count();
        }
        return parts;
    }
    /// Of `count` bundles those of a portion.
    [[nodiscard]] Share share(std::size_t d, std::int64_t count, std::int64_t portion) const {
        return {count, static_cast<int>(portion), static_cast<int>(portions_[d])};
    }

    /// body(cell, bundle, values, factors, carry) for the bundles of a portion in this process's cells of a
    /// slab. What is carried comes from in_ (nothing, where it is empty: zeros at the grid's boundary) and
    /// goes to out_.
    template <int D, class Body>
    void each_bundle(std::int64_t slab, std::int64_t portion, int carried, Body&& body) {
        const auto vectors = static_cast<std::size_t>(carried);
        std::int64_t count = 0;
        const std::vector<Part> parts = parts_of(D, slab, count);
        const Share mine = share(D, count, portion);
        out_.resize(static_cast<std::size_t>(mine.end - mine.begin) * vectors * kLanes);
        if (in_.empty()) in_.assign(out_.size(), 0.0);
        domain_.group().each_part(mine.end - mine.begin, [&](std::int64_t begin, std::int64_t end) {
            for (const Part& part : parts) {
                const std::int64_t before = part.before - mine.begin;  // of those of the portion
                const std::int64_t last = std::min(end - before, part.bundles.count());
                for (std::int64_t i = std::max<std::int64_t>(begin - before, 0); i < last; ++i) {
                    const std::size_t at =
                        static_cast<std::size_t>(slab * room_[D] + (before + i) * length_) * kLanes;
                    const std::size_t place = static_cast<std::size_t>(before + i) * vectors * kLanes;
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
    void hand_on(std::int64_t slab, std::int64_t next, std::int64_t portion, int carried) {
        std::int64_t count = 0;
        (void)parts_of(D, next, count);
        const Share mine = share(D, count, portion);
        in_.resize(static_cast<std::size_t>((mine.end - mine.begin) * carried * kLanes));
        const std::int64_t step = next - slab;
        const Shift shift{domain_.partition().neighbour(D, step), domain_.partition().neighbour(D, -step),
                          std::as_bytes(std::span(out_)), std::as_writable_bytes(std::span(in_))};
        domain_.group().exchange(std::span(&shift, 1));
    }

    /// Points of the memory of all bundles that a process has under way, at most.
    [[nodiscard]] static std::size_t memory_points(const Partition& partition, int workers) {
        std::int64_t most = 0, longest = 0;
        for (const Tile& t : partition.tiles()) longest = std::max(longest, longest_line(t));
        for (std::size_t d = 0; d < 3; ++d) {
            std::int64_t bundles = 0;
            for (const Tile& t : partition.tiles()) bundles += Bundles(t, d).count();
            const std::int64_t at_once = bundles / portions(partition, d, workers) + 2 * partition.cuts()[d];
            most = std::max(most, at_once * longest);
        }
        return static_cast<std::size_t>(most);
    }

    Domain& domain_;
    const Scheme& scheme_;
    double dt_;
    std::optional<Lines<Scheme>> lines_;  // where there is one process
    std::int64_t length_ = 0;             // points of a bundle's memory
    Index portions_{}, room_{};           // by direction; room: points of a slab's bundles of one portion
    std::span<double> values_, factors_;
    std::vector<double> in_, out_;
};

}  // namespace strata::npb::flow
