// What a task sees of its data: views of the versions that it declared, and of nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "core/graph/declare/label.hpp"
#include "core/graph/execute/worker.hpp"

namespace strata::graph {

class Here;

/// The values of a field in a box, by their indices in the family; x runs fastest. In a checking build every
/// access outside `box()`, and every write that was not declared, ends the run naming task, patch and label.
template <class T>
class FieldView {
  public:
    FieldView(T* origin, std::ptrdiff_t y, std::ptrdiff_t z, std::ptrdiff_t component, const Box& box)
        : origin_(origin), y_(y), z_(z), component_(component), box_(box) {}

    [[nodiscard]] T& operator()(int i, int j = 0, int k = 0, int c = 0) const {
        if constexpr (kChecked) check(i, j, k);
        return origin_[i + j * y_ + k * z_ + c * component_];
    }
    /// Row (j, k): index it by i from box().lo[0] to box().hi[0] - 1.
    [[nodiscard]] T* row(int j = 0, int k = 0, int c = 0) const {
        if constexpr (kChecked) check(box_.lo[0], j, k);
        return origin_ + j * y_ + k * z_ + c * component_;
    }
    /// What may be accessed: the patch's own values, with the ghosts that were declared.
    [[nodiscard]] Box box() const { return box_; }
    [[nodiscard]] std::ptrdiff_t stride(int axis) const { return axis == 0 ? 1 : axis == 1 ? y_ : z_; }
    /// Elements from one component's array to the next one's.
    [[nodiscard]] std::ptrdiff_t component_stride() const { return component_; }
    /// Where index (0, 0, 0) is or would be.
    [[nodiscard]] T* origin() const { return origin_; }

#ifdef STRATA_CHECKED_GRAPH
    static constexpr bool kChecked = true;
#else
    static constexpr bool kChecked = false;
#endif

  private:
    void check(int i, int j, int k) const;

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
    [[nodiscard]] T& operator[](std::int64_t i) const {
        if constexpr (FieldView<T>::kChecked) check(i);
        return values_[i];
    }
    [[nodiscard]] std::span<T> component(int c = 0) const {
        return {values_ + c * component_, static_cast<std::size_t>(count_)};
    }
    [[nodiscard]] std::int64_t size() const { return count_; }
    [[nodiscard]] T* data() const { return values_; }

  private:
    void check(std::int64_t i) const;

    T* values_;
    std::int64_t count_;
    std::ptrdiff_t component_;
};

/// The call that this thread is making, for messages: set around each call by who makes it, null between
/// them.
inline constinit thread_local const Here* here_now = nullptr;

/// Throws Error: "task 'diffuse', patch 3: touches 'temperature' at (33, 0, 0), outside what it declared",
/// with what it declared. The task and patch are those of `here_now`, the label is that whose values begin at
/// `address`. (From a function that is noexcept the run ends with the same message.)
[[noreturn]] void refuse_access(const void* address, int i, int j, int k, const Box& allowed);
[[noreturn]] void refuse_access(const void* address, std::int64_t i, std::int64_t count);

template <class T>
void FieldView<T>::check(int i, int j, int k) const {
    if (!box_.contains(Int3{i, j, k})) refuse_access(origin_, i, j, k, box_);
}
template <class T>
void ListView<T>::check(std::int64_t i) const {
    if (i < 0 || i >= count_) refuse_access(values_, i, count_);
}

/// Handles that Task's declarations return: what to ask Here for. The element type is const where a task may
/// only read.
template <class T>
struct FieldUse {
    int index = -1;
};
template <class T>
struct ListUse {
    int index = -1;
};
template <class T>
struct ScalarUse {
    int index = -1;
};

/// Where the data of one declared use lies now; filled in by the runtime for each call.
struct Place {
    std::byte* origin = nullptr;                 // of index (0,0,0), or of the first value
    std::ptrdiff_t y = 0, z = 0, component = 0;  // strides in values
    std::int64_t count = 0;                      // lists, particles
    Box box;
};

/// What a task's function is given: which patch, when, and its data.
class Here {
  public:
    /// Number of the patch in its family; of a task of the whole team: of the process.
    int patch = -1;
    const Family* family = nullptr;
    /// From 1; 0 in the start scope.
    std::int64_t step = 0;
    /// Within a repeat or subcycle: from 0.
    std::int64_t round = 0;

    /// The patch's cells, for tasks on a Grid.
    [[nodiscard]] Box cells() const { return grid().box(patch); }
    [[nodiscard]] const Grid& grid() const { return static_cast<const Grid&>(*family); }

    template <class T>
    [[nodiscard]] FieldView<T> operator[](FieldUse<T> use) const {
        const Place& at = places[static_cast<std::size_t>(use.index)];
        return {reinterpret_cast<T*>(at.origin), at.y, at.z, at.component, at.box};
    }
    template <class T>
    [[nodiscard]] ListView<T> operator[](ListUse<T> use) const {
        const Place& at = places[static_cast<std::size_t>(use.index)];
        return {reinterpret_cast<T*>(at.origin), at.count, at.component};
    }
    template <class T>
    [[nodiscard]] T& operator[](ScalarUse<T> use) const {
        return *reinterpret_cast<T*>(places[static_cast<std::size_t>(use.index)].origin);
    }

    /// Throws Error with this message, to which task, patch and step are added, which ends the run: for
    /// values that cannot be (NaN, a negative density).
    [[noreturn]] void fail(std::string_view message) const;

    /// In a task of the start scope that makes a set's ids: its patch has so many particles from now on. To
    /// be called once, before anything of the set is looked at; ids must differ from all others, on all
    /// patches. (In any task: a particle whose id is set to -1 is dropped by the next relocation.) Throws
    /// Error where the task may not.
    void create(int particle_set, std::int64_t count) const;

    /// body(first, last) for parts of 0..count-1 of `grain` each, in as many threads as the task was given
    /// (Task::threads) and are free. Which gets which part is not determined.
    template <class Body>
    void parallel_for(std::int64_t count, Body&& body, std::int64_t grain = 1) const {
        worker->parallel_for(0, count, std::forward<Body>(body), grain);
    }

    /// Of a task of the whole team: what it sees of each patch of a family that this process has. Uses of
    /// labels of other families are not there.
    [[nodiscard]] std::span<const Here> own(const Family& of) const;

    std::span<const Place> places;  // one for each declared use, in the order of declaration
    const struct TaskInfo* task = nullptr;
    Worker* worker = nullptr;
    struct Own {
        const Family* family;
        std::span<const Here> patches;
    };
    std::span<const Own> owns;  // of a task of the whole team
    void* call = nullptr;       // what create() is asked of
    void (*creates)(void* call, int particle_set, std::int64_t count) = nullptr;
};

}  // namespace strata::graph
