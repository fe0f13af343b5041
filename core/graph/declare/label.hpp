// Labels: typed, named quantities on the patches of a family, and their versions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/graph/declare/family.hpp"
#include "core/graph/declare/ids.hpp"

namespace strata::graph {

/// What a value is, for files, Python and the exact sum. `bytes`: any other trivially copyable type.
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

/// Which values a label has on a patch.
enum class Kind : std::uint8_t {
    field,      // one for each cell, node or face of a Grid's patch
    list,       // as many as the label says for each patch of any family (1: a value per patch)
    particles,  // one for each particle that is in the patch now
    scalar,     // one for the whole run: the result of a reduction
};

/// How contributions to a scalar are combined. Sums of floating point numbers are exact and rounded once, so
/// that they do not depend on who contributed first.
enum class Reduce : std::uint8_t { none, min, max, sum, all, any };

struct LabelInfo {
    std::string name;
    LabelId id;
    Kind kind = Kind::field;
    const Family* family = nullptr;  // null for scalars
    SetId particle_set;              // for particles
    On on = On::cells;
    Element element = Element::f64;
    std::size_t bytes = sizeof(double);  // of one component of one value
    int components = 1;                  // kept as one array each
    /// Generations that are kept besides the current one.
    int history = 0;
    /// Layers beyond the domain that patches at its border own, in directions that are not periodic.
    Int3 border{};
    std::function<std::int64_t(int patch)> entries;  // lists
    Reduce reduce = Reduce::none;                    // scalars
    double first = 0;                                // scalars: the value before the first reduction
    std::string unit, about;
};

/// Further things that a label may say of itself.
struct LabelOptions {
    int components = 1;
    int history = 0;
    Int3 border{};
    std::string unit = {}, about = {};
};

/// One assigned value of a label. Versions of a generation are counted from 0; `back` says how many
/// generations ago, of which the last version is meant.
struct Version {
    LabelId label;
    int version = 0;
    int back = 0;
    friend bool operator==(const Version&, const Version&) = default;
};

/// A version whose element type and kind the compiler knows.
template <class T, Kind K>
struct TypedVersion : Version {};

/// A handle, cheap to copy; the label itself belongs to its Graph.
template <class T, Kind K>
class Label {
  public:
    static_assert(std::is_trivially_copyable_v<T>);
    Label() = default;
    explicit Label(LabelId id) : id_(id) {}
    [[nodiscard]] LabelId id() const { return id_; }
    /// Version `v` of this generation: 0 is what `make` gives, or, where nothing makes the label in a
    /// generation, the last version of the one before; each `modify` gives the next.
    [[nodiscard]] TypedVersion<T, K> at(int v) const { return {{id_, v, 0}}; }
    /// The last version of k generations before. The label must keep that many (LabelOptions::history).
    [[nodiscard]] TypedVersion<T, K> previous(int k = 1) const { return {{id_, -1, k}}; }
    /// The last version of this generation, however many there are.
    [[nodiscard]] TypedVersion<T, K> last() const { return {{id_, -1, 0}}; }
    // A label alone means version 0.
    operator TypedVersion<T, K>() const { return at(0); }  // NOLINT(google-explicit-constructor)

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

}  // namespace strata::graph
