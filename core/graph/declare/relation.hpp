// Relations: the values of other patches that a task on a patch reads. One interface serves ghosts of
// structured patches, donors of overlapping zones, unknowns that subdomains share, coarse and fine levels,
// and transposes.
//
// A relation lists, for any patch, the values that it receives and the patches that they come from. The list
// depends on the relation's state alone, which changes only between steps (Relation::changed). So every
// process works out its own share without asking another.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/declare/family.hpp"

namespace strata::graph {

/// A box of values that a patch receives from another one: for halos, windows and sums.
struct SourceBox {
    int from = -1;
    Box box;                // in the source's indices
    Int3 shift{};           // receiver's index = source's + shift, along the same axes;
    Axes axes = kSameAxes;  // across a joined face of zones: along turned ones (IndexMap)

    /// From the source's indices to the receiver's.
    [[nodiscard]] IndexMap map() const { return {shift, axes}; }
    /// The box in the receiver's indices.
    [[nodiscard]] Box into() const { return map()(box); }
};

/// A box of another patch's values or, for lists, entries of them.
struct Piece : SourceBox {
    std::vector<std::int32_t> entries;  // lists: of the source's values, in their storage order (for a field:
                                        // within Grid::owned(), x fastest)
    std::int64_t at = 0;                // lists: where the first of them goes in the receiver's list
};

/// How the pieces of a relation are shown to a task.
enum class Shape : std::uint8_t {
    in_place,   // ghosts: the patch's own values with those of its neighbours around
    window,     // a box of its own (Relation::window), e.g. coarse cells under a fine patch, a pencil
    list,       // a list (Relation::length), e.g. the donors' values, the shared unknowns of the neighbours
    particles,  // a patch's particles and those around it (ParticleHalo); how many is known when it runs
    whole,      // all values of the patches that the pieces name, one patch after the other (Collect)
};

class Relation {
  public:
    explicit Relation(std::string name, const Family& source, const Family& target, Shape shape)
        : name_(std::move(name)), source_(&source), target_(&target), shape_(shape) {}
    virtual ~Relation() = default;
    Relation(const Relation&) = delete;
    Relation& operator=(const Relation&) = delete;

    /// The values that patch `to` of the target family receives, in an order that never depends on the
    /// layout. (Shape::whole: their patches alone, as their numbers depend on the label.)
    [[nodiscard]] virtual std::vector<Piece> pieces(int to, On on) const = 0;
    /// The box that a window spans, and the number of values in a list. Throw Error for relations of another
    /// shape.
    [[nodiscard]] virtual Box window(int to, On on) const;
    [[nodiscard]] virtual std::int64_t length(int to) const;

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const Family& source() const { return *source_; }
    [[nodiscard]] const Family& target() const { return *target_; }
    [[nodiscard]] Shape shape() const { return shape_; }
    /// The number of changes so far. A plan that was made for another number is out of date.
    [[nodiscard]] std::uint64_t version() const { return version_; }
    /// Every process calls it, between steps, after the state behind pieces() has changed.
    void changed() { ++version_; }

  private:
    friend class Graph;  // which gives those of a part of it the part's name
    std::string name_;
    const Family* source_;
    const Family* target_;
    Shape shape_;
    std::uint64_t version_ = 0;
};

/// Layers of neighbours' values around a structured patch: its box grown by `width`, with edges and corners,
/// through periodic borders and joined faces of zones (zones.hpp) as well. Beyond a border that is not
/// periodic lies the label's own border, or nothing. Ghosts may be wider than patches: then they come from
/// the patches beyond the next one, too, and in a periodic direction from the patch itself, whose values
/// repeat. Example: 2 cells in x, periodic, ghosts(3): cell 1, 0, 1, then the patch's own two, then 0, 1, 0.
struct Ghosts {
    Int3 width{};
    bool corners = true;  // also beyond edges and corners

    /// Of a patch the layers beyond its faces alone, for stencils that reach along one axis at a time. Then
    /// it waits for the neighbours there only, and nothing is copied from others. In a need.
    [[nodiscard]] Ghosts without_corners() const { return {width, false}; }
};
[[nodiscard]] inline Ghosts ghosts(int width) { return {{width, width, width}, true}; }
[[nodiscard]] inline Ghosts ghosts(const Int3& width) { return {width, true}; }

/// The layers of neighbours' values to which a patch contributes, below and above its own. Where these are
/// more than a patch has, it contributes to the patches beyond the next one, too.
struct Sides {
    Int3 below{}, above{};
    Sides(const Int3& below, const Int3& above) : below(below), above(above) {}
    Sides(const Ghosts& both)
        : below(both.width), above(both.width) {}  // NOLINT(google-explicit-constructor)
};

/// Values of another structured family at the same indices (`ratio` 1), or of a coarser or finer one.
/// Transposes have `ratio` 1, between two decompositions of one domain.
///
/// The window of a patch covers the same region in the source's indices, grown by `ghosts` layers of the
/// source. With ratio r, a patch of cells lo .. hi sees
///   source_coarser: floor(lo / r) .. ceil(hi / r);  source_finer: r * lo .. r * hi.
/// For values on the sides of cells (nodes; faces along their own direction), the first to the last of them
/// being a .. b, it is floor(a / r) .. ceil(b / r), so that each lies between two, and r * a .. r * b.
///   Example: r = 2, fine cells 3 .. 9 (the end excluded) see the coarse cells 1 .. 5.
///
/// Indices without an owner (outside the domain, or where the finer level does not reach) keep their values,
/// at first zero. Through the source's periodic borders a window sees the source's images.
class Overlap final : public Relation {
  public:
    enum class Level : std::uint8_t { same, source_coarser, source_finer };
    /// Throws Error where the ratio is below 1, or not 1 on one level, or a number of ghosts is negative.
    Overlap(std::string name, const Grid& source, const Grid& target, Level level = Level::same,
            int ratio = 1, const Int3& ghosts = {});
    [[nodiscard]] std::vector<Piece> pieces(int to, On on) const override;
    [[nodiscard]] Box window(int to, On on) const override;
    [[nodiscard]] Level level() const { return level_; }
    [[nodiscard]] int ratio() const { return ratio_; }

  private:
    const Grid& from_;
    const Grid& to_;
    Level level_;
    int ratio_;
    Int3 ghosts_;
};

/// A list of values for each target patch, each taken from an entry of a source patch: donors of overlapping
/// zones, shared unknowns of subdomains. The table may be replaced between steps. Consecutive values from one
/// patch are one piece, so a list that is grouped by source patch is the fastest to exchange.
class Gather final : public Relation {
  public:
    struct Source {
        std::int32_t patch, entry;
    };
    /// [target patch][i] -> the source of value i of its list.
    using Table = std::vector<std::vector<Source>>;
    /// Throws Error where the table has not one list for each target patch, names a patch that does not
    /// exist, or an entry below 0. (Entries that a patch does not have are refused when a label is gathered.)
    Gather(std::string name, const Family& source, const Family& target, Table table);
    /// Takes another table from the next step on (calls changed()). Throws as the constructor does, with the
    /// old table kept.
    void replace(Table table);
    [[nodiscard]] std::vector<Piece> pieces(int to, On on) const override;
    [[nodiscard]] std::int64_t length(int to) const override;

  private:
    void check(const Table& table) const;
    Table table_;
};

}  // namespace strata::graph
