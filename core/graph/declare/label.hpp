// Labels: typed, named quantities on the patches of a family, and their versions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/graph/declare/family.hpp"
#include "core/graph/declare/ids.hpp"
#include "core/graph/declare/object.hpp"

namespace strata::graph {

/// The type of a label's elements, for files, Python and the exact sum. `bytes`: any other trivially copyable
/// type.
enum class Element : std::uint8_t { f64, f32, i64, i32, u8, bytes };

template <class T>
[[nodiscard]] constexpr Element element_of() {
    if constexpr (std::is_same_v<T, double>)
        return Element::f64;
    else if constexpr (std::is_same_v<T, float>)
        return Element::f32;
    else if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
        return Element::i64;
    else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
        return Element::i32;
    else if constexpr (std::is_integral_v<T> && sizeof(T) == 1)
        return Element::u8;
    else
        return Element::bytes;
}

/// The values that a label has on a patch.
enum class Kind : std::uint8_t {
    field,      // one for each cell, node or face of a Grid's patch
    list,       // LabelInfo::entries(patch) on each patch of any family (1: one value a patch)
    particles,  // one for each particle that is in the patch now
    scalar,     // one for the whole run: the result of a reduction, or of a task that runs once
    object,     // an object of any C++ type on each patch of any family, which its own process alone sees
};

/// How contributions to a scalar are combined. A sum of floating point numbers is exact and rounded once, so
/// it does not depend on the order of the contributions.
/// none: only tasks that run once make it.
enum class Reduce : std::uint8_t { none, min, max, sum, all, any };

/// The type of a scalar's numbers, and how many there are: std::array<double, 3> are three doubles.
template <class T>
struct NumbersOf {
    using Type = T;
    static constexpr int count = 1;
};
template <class T, std::size_t N>
struct NumbersOf<std::array<T, N>> {
    using Type = T;
    static constexpr int count = static_cast<int>(N);
};

/// Stands for a scalar of up to so many numbers (Graph::scalars).
template <class T>
struct UpTo {
    T number;
};

struct LabelInfo {
    std::string name;
    LabelId id;
    Kind kind = Kind::field;
    const Family* family = nullptr;  // null for scalars
    SetId particle_set;              // for particles
    HaloId halo;                     // of labels that were made with a halo of particles (ParticleHalo)
    On on = On::cells;
    Element element = Element::f64;
    std::size_t bytes = sizeof(double);  // of one component of one value
    int components = 1;                  // each in an array of its own
    /// Earlier generations that are kept besides the current one.
    int history = 0;
    /// The label lives from step to step, and is in checkpoints, even where no task needs it: for output.
    /// Others do so only where a step needs what was there before it.
    bool kept = false;
    /// Layers beyond the domain that the patches at its border own, in directions that are not periodic.
    Int3 border{};
    /// Fields: three components, from `vector` on, are a vector in space. Its ghosts beyond a joined face of
    /// zones are turned where the join says how (ZoneList::join).
    bool turns = false;
    int vector = 0;
    std::function<std::int64_t(int patch)> entries;  // lists
    std::shared_ptr<const ObjectType> object;        // objects
    Reduce reduce = Reduce::none;                    // scalars
    double first = 0;                                // scalars: the value before the first reduction
    /// Graph::scalars: component 0 is how many of the others there are.
    bool counted = false;
    std::string unit, about;
};

/// Optional properties of a label, as in LabelInfo.
struct LabelOptions {
    int components = 1;
    int history = 0;
    Int3 border{};
    std::string unit = {}, about = {};
    bool kept = false;
    bool turns = false;
    int vector = 0;
};

/// One assigned value of a label. The versions of a generation are counted from 0; -1 is the last one.
/// `back`: so many generations before the current one, always with its last version.
///   Example: u is made (version 0) and modified twice (versions 1 and 2) in each step. Then u.last() is
///   version 2, and u.previous() is version 2 of the step before.
struct Version {
    LabelId label;
    int version = 0;
    int back = 0;
    friend bool operator==(const Version&, const Version&) = default;
};

/// A version with its element type and kind known at compile time.
template <class T, Kind K>
struct TypedVersion : Version {};

/// A handle, cheap to copy; the label itself belongs to its Graph.
template <class T, Kind K>
class Label {
  public:
    static_assert(K == Kind::object || std::is_trivially_copyable_v<T>);
    Label() = default;
    explicit Label(LabelId id) : id_(id) {}
    [[nodiscard]] LabelId id() const { return id_; }
    /// Version `v` of this generation. `make` gives version 0, and each `modify` the next one. If no task
    /// makes the label in a generation, version 0 is the last version of the generation before.
    [[nodiscard]] TypedVersion<T, K> at(int v) const { return {{id_, v, 0}}; }
    /// The last version of k generations before. The label must keep that many (LabelOptions::history).
    [[nodiscard]] TypedVersion<T, K> previous(int k = 1) const { return {{id_, -1, k}}; }
    /// The last version of this generation.
    [[nodiscard]] TypedVersion<T, K> last() const { return {{id_, -1, 0}}; }
    // A label alone means version 0; as an argument of Task's and Scope's functions, in a graph in program
    // order, its newest version (Graph::in_program_order).
    operator TypedVersion<T, K>() const { return at(0); }  // NOLINT(google-explicit-constructor)
    /// False for Label(): a quantity that this case does not have. Tasks may declare that they use it all the
    /// same; its view is empty.
    [[nodiscard]] explicit operator bool() const { return bool(id_); }
    /// The label where the case has it, else Label().
    [[nodiscard]] Label where(bool there) const { return there ? *this : Label(); }

  private:
    LabelId id_;
};

template <class T>
using Field = Label<T, Kind::field>;
template <class T>
using List = Label<T, Kind::list>;
template <class T>
using Particles = Label<T, Kind::particles>;
template <class T>
using Scalar = Label<T, Kind::scalar>;
template <class T>
using Scalars = Label<UpTo<T>, Kind::scalar>;
template <class T>
using Object = Label<T, Kind::object>;

}  // namespace strata::graph
