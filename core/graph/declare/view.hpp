// Views of a task's data, and rows of them. A checking build (the option STRATA_CHECKED_GRAPH) has the views
// of checked_view.hpp instead: they have the same interface and check each access.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/graph/declare/box.hpp"

namespace strata::graph {

class Here;

/// The call and the use that a view shows; none for views that tests of kernels make.
struct ViewSource {
    const Here* here = nullptr;
    int use = -1;
};

/// For checking builds: what a view in the order of a sweep shows, which is no box. None: its whole box.
struct SeenBoxes {
    std::array<Box, 7> all{};
    std::size_t count = 0;

    [[nodiscard]] bool contains(const Int3& at) const {
        return count == 0 || std::any_of(all.begin(), all.begin() + count,
                                         [&](const Box& box) { return box.contains(at); });
    }
    /// Of a row along x in `box`: where it is shown, without a gap. Empty: nowhere.
    [[nodiscard]] Box row(const Box& box, int j, int k) const {
        const Box whole{{box.lo[0], j, k}, {box.hi[0], j + 1, k + 1}};
        if (count == 0) return whole;
        Box shown;
        for (std::size_t i = 0; i < count; ++i)
            if (const Box part = common(all[i], whole); !part.empty()) shown = around(shown, part);
        return shown;
    }
};

/// For checking builds. Each throws Error: "task 'diffuse', patch 3 of 'grid', step 12: reads 'temperature'
/// at (33, 0, 0), outside ...", with the allowed range and a remedy. (In a function that is noexcept the run
/// ends with the same message.)
[[noreturn]] void refuse_index(const ViewSource& shown, const Int3& at, const Box& allowed);
/// A ghost was written: `own` may be.
[[noreturn]] void refuse_ghost(const ViewSource& shown, const Int3& at, const Box& own);
[[noreturn]] void refuse_entry(const ViewSource& shown, std::int64_t entry, std::int64_t count);
[[noreturn]] void refuse_component(const ViewSource& shown, int component, int components);

}  // namespace strata::graph

namespace strata::graph {

/// Whether this source file is compiled for a checking build. Functions that differ have it as a template
/// parameter, and so symbols of their own: object files of both kinds may be linked into one program.
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

/// A pointer to consecutive values: from a FieldView's row or from a ListView's data. Kernels say Row<double>
/// instead of double*. In a checking build it is a class that behaves like a pointer and refuses access
/// outside the row or the list. (__restrict: no other pointer writes these values while a kernel works.)
template <class T>
using Row = T* __restrict;

/// A plain pointer to `count` values from `row` on, for libraries. A checking build checks the range, here
/// and not at each access.
template <class T>
[[nodiscard]] T* pointer_to(T* row, [[maybe_unused]] std::ptrdiff_t count) {
    return row;
}

/// The values of a field in a box, by their indices in the family; x runs fastest. In a checking build every
/// access outside `box()`, and every write that was not declared, ends the run with a message that names
/// task, patch and label.
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
    /// The indices that may be accessed: the patch's own values and the declared ghosts.
    [[nodiscard]] Box box() const { return box_; }
    [[nodiscard]] std::ptrdiff_t stride(int axis) const { return axis == 0 ? 1 : axis == 1 ? y_ : z_; }
    /// Elements from one component's array to the next one's.
    [[nodiscard]] std::ptrdiff_t component_stride() const { return component_; }
    /// The address of index (0, 0, 0), which may lie outside the box. No build checks accesses through it.
    [[nodiscard]] T* origin() const { return origin_; }

  private:
    T* origin_;
    std::ptrdiff_t y_, z_, component_;
    Box box_;
};

/// The values of a list, or of a patch's particles. Each component is an array of its own.
template <class T>
class ListView {
  public:
    ListView(T* values, std::int64_t count, std::ptrdiff_t component)
        : values_(values), count_(count), component_(component) {}
    [[nodiscard]] T& operator[](std::int64_t i) const { return values_[i]; }
    /// In a checking build: a range with checked access.
    [[nodiscard]] std::span<T> component(int c = 0) const {
        return {values_ + c * component_, static_cast<std::size_t>(count_)};
    }
    [[nodiscard]] std::int64_t size() const { return count_; }
    /// In a checking build: a Row<T>.
    [[nodiscard]] T* data() const { return values_; }
    /// `count` values from number `first` on, of each component.
    [[nodiscard]] ListView part(std::int64_t first, std::int64_t count) const {
        return {values_ + first, count, component_};
    }

  private:
    T* values_;
    std::int64_t count_;
    std::ptrdiff_t component_;
};

}  // namespace strata::graph

#endif
