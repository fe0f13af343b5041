// Views of a task's data, and rows of them. In a checking build (the option STRATA_CHECKED_GRAPH) they are
// those of checked_view.hpp, which look the same and know what the task declared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/graph/declare/box.hpp"

namespace strata::graph {

class Here;

/// Which use of which call a view shows; without a call (in tests of kernels) there is nobody to name.
struct ViewSource {
    const Here* here = nullptr;
    int use = -1;
};

/// For checking builds. Each throws Error: "task 'diffuse', patch 3 of 'grid', step 12: reads 'temperature'
/// at (33, 0, 0), outside ...", with what was declared and what to do. (From a function that is noexcept the
/// run ends with the same message.)
[[noreturn]] void refuse_index(const ViewSource& shown, const Int3& at, const Box& allowed);
[[noreturn]] void refuse_entry(const ViewSource& shown, std::int64_t entry, std::int64_t count);
[[noreturn]] void refuse_component(const ViewSource& shown, int component, int components);

}  // namespace strata::graph

namespace strata::graph {

/// Whether this source file is compiled to be checked. Functions that differ have it as a template parameter,
/// and so symbols of their own: object files of both kinds may be linked into one program.
#ifdef STRATA_CHECKED_GRAPH
constexpr bool kChecked = true;
#else
constexpr bool kChecked = false;
#endif

}  // namespace strata::graph

#ifdef STRATA_CHECKED_GRAPH
#include "core/graph/declare/checked_view.hpp"
#else

namespace strata::graph {

/// Consecutive values, from a FieldView's row or a ListView's data on. In a checking build it is no pointer,
/// but behaves like one and refuses what is not the row's or the list's: kernels say Row<double> where they
/// would say double*. (Nothing else writes what it points to while a kernel works.)
template <class T>
using Row = T* __restrict;

/// `count` values from `row` on for a library that wants a pointer: in a checking build all of them are
/// checked at once.
template <class T>
[[nodiscard]] T* pointer_to(T* row, [[maybe_unused]] std::ptrdiff_t count) {
    return row;
}

/// The values of a field in a box, by their indices in the family; x runs fastest. In a checking build every
/// access outside `box()`, and every write that was not declared, ends the run naming task, patch and label.
template <class T>
class FieldView {
  public:
    FieldView(T* origin, std::ptrdiff_t y, std::ptrdiff_t z, std::ptrdiff_t component, const Box& box)
        : origin_(origin), y_(y), z_(z), component_(component), box_(box) {}

    [[nodiscard]] T& operator()(int i, int j = 0, int k = 0, int c = 0) const {
        return origin_[i + j * y_ + k * z_ + c * component_];
    }
    /// Row (j, k): index it by i from box().lo[0] to box().hi[0] - 1.
    [[nodiscard]] T* row(int j = 0, int k = 0, int c = 0) const {
        return origin_ + j * y_ + k * z_ + c * component_;
    }
    /// What may be accessed: the patch's own values, with the ghosts that were declared.
    [[nodiscard]] Box box() const { return box_; }
    [[nodiscard]] std::ptrdiff_t stride(int axis) const { return axis == 0 ? 1 : axis == 1 ? y_ : z_; }
    /// Elements from one component's array to the next one's.
    [[nodiscard]] std::ptrdiff_t component_stride() const { return component_; }
    /// Where index (0, 0, 0) is or would be. No build checks what is done with it.
    [[nodiscard]] T* origin() const { return origin_; }

  private:
    T* origin_;
    std::ptrdiff_t y_, z_, component_;
    Box box_;
};

/// A list of values, or those of a patch's particles; components are arrays of their own.
template <class T>
class ListView {
  public:
    ListView(T* values, std::int64_t count, std::ptrdiff_t component)
        : values_(values), count_(count), component_(component) {}
    [[nodiscard]] T& operator[](std::int64_t i) const { return values_[i]; }
    /// In a checking build: a range of checked ones.
    [[nodiscard]] std::span<T> component(int c = 0) const {
        return {values_ + c * component_, static_cast<std::size_t>(count_)};
    }
    [[nodiscard]] std::int64_t size() const { return count_; }
    /// In a checking build: a Row<T>.
    [[nodiscard]] T* data() const { return values_; }

  private:
    T* values_;
    std::int64_t count_;
    std::ptrdiff_t component_;
};

}  // namespace strata::graph

#endif
