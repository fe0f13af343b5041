// Relations: how a task's patch reaches other patches. One interface carries ghosts of structured patches,
// donors of overlapping zones, unknowns that subdomains share, coarse and fine levels, and transposes.
//
// A relation answers for any patch what it receives from which others. Answers are pure functions of the
// relation's state, which changes only between steps (Relation::changed); so every process can work out its
// own share, and who changes the state knows when.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/declare/family.hpp"

namespace strata::graph {

/// Part of what a patch receives from patch `from` of the relation's source family. Pieces of a window name a
/// box; pieces of a list name entries.
struct Piece {
    int from = -1;
    Box box;                            // windows: in the source's indices
    Int3 shift{};                       // windows: receiver's index = source's + shift
    std::vector<std::int32_t> entries;  // lists: of the source's values, in their storage order (for a field:
                                        // within Grid::owned(), x fastest)
    std::int64_t at = 0;                // lists: where the first of them goes in the receiver's list
};

/// How the pieces of a relation are shown to a task.
enum class Shape : std::uint8_t {
    in_place,  // ghosts: the patch's own values with those of its neighbours around
    window,    // a box of its own (Relation::window), e.g. coarse cells under a fine patch, a pencil
    list,      // a list (Relation::length), e.g. the donors' values, the shared unknowns of the neighbours
};

class Relation {
  public:
    explicit Relation(std::string name, const Family& source, const Family& target, Shape shape)
        : name_(std::move(name)), source_(&source), target_(&target), shape_(shape) {}
    virtual ~Relation() = default;
    Relation(const Relation&) = delete;
    Relation& operator=(const Relation&) = delete;

    /// What patch `to` of the target family receives, in an order that never depends on the layout.
    [[nodiscard]] virtual std::vector<Piece> pieces(int to, On on) const = 0;
    /// The box a window spans; the number of values in a list. Throw Error where the relation shows no
    /// window, or no list.
    [[nodiscard]] virtual Box window(int to, On on) const;
    [[nodiscard]] virtual std::int64_t length(int to) const;

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const Family& source() const { return *source_; }
    [[nodiscard]] const Family& target() const { return *target_; }
    [[nodiscard]] Shape shape() const { return shape_; }
    /// Counts the changes: a plan made for another number is out of date.
    [[nodiscard]] std::uint64_t version() const { return version_; }
    /// To be called, by every process and between steps, after the state that pieces() depends on changed.
    void changed() { ++version_; }

  private:
    std::string name_;
    const Family* source_;
    const Family* target_;
    Shape shape_;
    std::uint64_t version_ = 0;
};

/// Layers of neighbours' values around a structured patch: all of the box grown by `width`, also across edges
/// and corners and through periodic borders. What lies beyond a border that is not periodic is the label's
/// own border, or nothing. No wider than the narrowest patch of the grid in that direction (resolve() refuses
/// more), but in a periodic direction that every patch fills alone: there a patch is its own neighbour, and
/// its values are repeated as often as it takes.
struct Ghosts {
    Int3 width{};
};
[[nodiscard]] inline Ghosts ghosts(int width) { return {{width, width, width}}; }
[[nodiscard]] inline Ghosts ghosts(const Int3& width) { return {width}; }

/// How far a patch's contributions reach beyond its own values, on its lower and its upper sides: layers of
/// neighbours' values, no more of them than the narrowest patch has.
struct Sides {
    Int3 below{}, above{};
    Sides(const Int3& below, const Int3& above) : below(below), above(above) {}
    Sides(const Ghosts& both)
        : below(both.width), above(both.width) {}  // NOLINT(google-explicit-constructor)
};

/// Values of another structured family at the same indices (`ratio` 1), or of a coarser or finer one. The
/// window of a patch spans what its own values lie on, in the source's indices, grown by `ghosts` (layers of
/// the source). Along a direction in which values lie within cells:
///   source_coarser: floor(lo / r) .. ceil(hi / r);  source_finer: r * lo .. r * hi;
/// and in which they lie on the sides of cells (nodes; faces along their own direction), i .. i being the
/// first to the last of them: floor(i / r) .. ceil(i / r), so that each lies between two, and r * i .. r * i.
/// Transposes are `ratio` 1 between two decompositions of one domain. Indices that no source patch owns
/// (outside the domain, or where the finer level is not) are left as they are: zero at first. Through the
/// source's periodic borders a window sees the source's images.
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
/// zones, shared unknowns of subdomains. Its state may be replaced between steps. A run of values from one
/// patch is one piece, so lists that are grouped by source patch are exchanged with the least effort.
class Gather final : public Relation {
  public:
    struct Source {
        std::int32_t patch, entry;
    };
    /// [target patch][i] -> where value i of its list comes from.
    using Table = std::vector<std::vector<Source>>;
    /// Throws Error where the table has not one list for each target patch, names a patch that the source
    /// has not, or an entry below 0. (How many entries a patch has is the label's affair.)
    Gather(std::string name, const Family& source, const Family& target, Table table);
    /// Another table from the next step on (calls changed()). Throws as the constructor does, and then
    /// changes nothing.
    void replace(Table table);
    [[nodiscard]] std::vector<Piece> pieces(int to, On on) const override;
    [[nodiscard]] std::int64_t length(int to) const override;

  private:
    void check(const Table& table) const;
    Table table_;
};

}  // namespace strata::graph
