// A task's access to its data: views of the versions that it declared, and of no others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/graph/declare/collect.hpp"
#include "core/graph/declare/halo_view.hpp"
#include "core/graph/declare/label.hpp"
#include "core/graph/declare/view.hpp"
#include "core/graph/execute/worker.hpp"

namespace strata::graph {

class Here;

/// The call that this thread is making, for messages; null between calls. The runtime sets it.
inline constinit thread_local const Here* current_call = nullptr;

/// Handles that Task's declarations return; Here's operator[] takes them. The element type is const where the
/// task may only read. Only the task that declared a handle may use it: a checking build refuses others.
/// One of a quantity that the case does not have (no use, -1) shows an empty field or list; of scalars and
/// objects it may not be used.
template <class T>
struct FieldUse {
    int index = -1;
    TaskId task;  // none: not known
};
template <class T>
struct ListUse {
    int index = -1;
    TaskId task;
};
template <class T>
struct CollectUse {
    int index = -1;
    TaskId task;
    const Collect* from = nullptr;
};
template <class T>
struct ScalarUse {
    int index = -1;
    TaskId task;
};

template <class T>
struct ScalarsUse {
    int index = -1;
    TaskId task;
};
struct HaloUse {
    int index = -1;
    TaskId task;
};

template <class T>
struct ObjectUse {
    int index = -1;
    TaskId task;
};

/// For checking builds: checks that the call may use a handle of this task in this way, for values of so many
/// bytes. Returns the label. Throws Error that names task, patch and label.
const LabelInfo& check_use(const Here& here, TaskId task, int use, bool writes, std::size_t bytes);

/// For checking builds: what a use in the order of a sweep shows.
[[nodiscard]] SeenBoxes seen_by(const Here& here, int use);

/// The location of one declared use's data; filled in by the runtime for each call.
struct UseData {
    std::byte* origin = nullptr;                 // of index (0,0,0), or of the first value
    std::ptrdiff_t y = 0, z = 0, component = 0;  // strides in values
    std::int64_t count = 0;                      // lists, particles
    union {
        Box box{};                   // fields
        const std::int64_t* starts;  // collected lists: of each part, and the end
    };
};

/// The task that calls gives a scalar another number of numbers than it may have, or asks for one that is not
/// there. Throws Error.
[[noreturn]] void refuse_numbers(const char* what, std::int64_t asked, std::int64_t most);

/// The task that calls asks for the values of a patch that it did not collect. Throws Error.
[[noreturn]] void refuse_part(int patch, std::span<const int> collected);

/// The values of several patches (Collect), one patch after the other: `all`, or those of one patch.
template <class T>
class Collected {
  public:
    Collected(const ListView<T>& all, std::span<const int> patches, const std::int64_t* starts)
        : all(all), patches_(patches), starts_(starts) {}
    /// Throws Error where the patch was not collected.
    [[nodiscard]] ListView<T> of(int patch) const {
        const std::size_t i = place(patch);
        return all.part(starts_[i], starts_[i + 1] - starts_[i]);
    }
    /// Where the patch's values begin in `all`.
    [[nodiscard]] std::int64_t start(int patch) const { return starts_[place(patch)]; }
    /// The patches, ascending.
    [[nodiscard]] std::span<const int> patches() const { return patches_; }

    ListView<T> all;

  private:
    [[nodiscard]] std::size_t place(int patch) const {
        const auto at = std::lower_bound(patches_.begin(), patches_.end(), patch);
        if (at == patches_.end() || *at != patch) refuse_part(patch, patches_);
        return static_cast<std::size_t>(at - patches_.begin());
    }
    std::span<const int> patches_;
    const std::int64_t* starts_;
};

/// The numbers of a scalar of several (Graph::scalars): as many as there are now.
template <class T, bool checked = kChecked>
class Numbers {
  public:
    /// `values`: how many there are, then room for `most`.
    Numbers(T* values, std::int64_t most) : values_(values), most_(most) {}
    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(values_[0]); }
    [[nodiscard]] T& operator[](std::int64_t i) const {
        if constexpr (checked)
            if (i < 0 || i >= size()) refuse_numbers("number", i, size() - 1);
        return values_[1 + i];
    }
    /// From now on there are so many. Of a contribution, those that are new are the reduction's neutral
    /// element; else they have no value yet. Throws Error where there are more than was declared.
    void resize(std::int64_t count) const {
        if (count < 0 || count > most_) refuse_numbers("so many numbers:", count, most_);
        values_[0] = static_cast<T>(count);
    }
    [[nodiscard]] T* begin() const { return values_ + 1; }
    [[nodiscard]] T* end() const { return values_ + 1 + size(); }

  private:
    T* values_;
    std::int64_t most_;
};

/// The particles of a patch that a task lists as moved to another cell, or deleted.
class Moved {
  public:
    /// Adds particle i of the patch's arrays. A particle that did not move, or is listed twice, only costs a
    /// little time. To be called by one thread at a time.
    void add(std::int64_t i) { all_.push_back(static_cast<std::int32_t>(i)); }
    [[nodiscard]] std::vector<std::int32_t>& all() { return all_; }
    /// For checking builds: relocations check that no particle was left out.
    bool checked = false;

  private:
    std::vector<std::int32_t> all_;
};

/// What the runtime keeps of a call; tasks see it through Here alone (inside_here.hpp).
struct CallData {
    struct Own {
        const Family* family;
        std::span<const Here> patches;
    };
    struct MovedOfSet {
        SetId set;
        Moved* moved;
    };
    const Family* family = nullptr;
    const struct TaskInfo* task = nullptr;
    std::span<const UseData> use_data;  // one for each declared use, in the order of declaration
    Worker* worker = nullptr;
    std::span<const Own> owns;          // for team tasks
    std::span<const MovedOfSet> moves;  // one for each set of TaskInfo::moves
    void* call = nullptr;               // first argument of `creates`
    void (*creates)(void* call, SetId set, std::int64_t count) = nullptr;
    bool past_caches = false;
};

/// The argument of a task's function: the patch, the step, and the data.
class Here {
  public:
    /// The number of the patch in its family. For a team task: the number of the process.
    int patch = -1;
    /// Counted from 1; 0 in the start scope.
    std::int64_t step = 0;
    /// Within a repeat or subcycle: counted from 0.
    std::int64_t round = 0;

    /// The patch's cells, for tasks on a Grid.
    [[nodiscard]] Box cells() const { return grid().box(patch); }
    [[nodiscard]] const Grid& grid() const {
        if (data_.family == nullptr) fail("has no cells: it does not run on patches");
        return static_cast<const Grid&>(*data_.family);
    }

    /// The centre of a cell (Grid::place).
    [[nodiscard]] Real3 place(int i, int j = 0, int k = 0) const { return grid().place({i, j, k}); }

    template <class T>
    [[nodiscard]] FieldView<T> operator[](FieldUse<T> use) const {
#ifdef STRATA_CHECKED_GRAPH
        if (use.index < 0 && use.task) return {nullptr, 0, 0, 0, Box{}};
        const LabelInfo& label = check_use(*this, use.task, use.index, !std::is_const_v<T>, sizeof(T));
        const UseData& at = use_data(use.index);
        return {reinterpret_cast<T*>(at.origin),
                at.y,
                at.z,
                at.component,
                at.box,
                label.components,
                ViewSource{this, use.index},
                seen_by(*this, use.index)};
#else
        const UseData& at = use_data_or_none(use.index);
        return {reinterpret_cast<T*>(at.origin), at.y, at.z, at.component, at.box};
#endif
    }
    template <class T>
    [[nodiscard]] ListView<T> operator[](ListUse<T> use) const {
#ifdef STRATA_CHECKED_GRAPH
        if (use.index < 0 && use.task) return {nullptr, 0, 0};
        const LabelInfo& label = check_use(*this, use.task, use.index, !std::is_const_v<T>, sizeof(T));
        const UseData& at = use_data(use.index);
        return {reinterpret_cast<T*>(at.origin), at.count, at.component, label.components,
                ViewSource{this, use.index}};
#else
        const UseData& at = use_data_or_none(use.index);
        return {reinterpret_cast<T*>(at.origin), at.count, at.component};
#endif
    }
    template <class T>
    [[nodiscard]] Collected<T> operator[](CollectUse<T> use) const {
        return {(*this)[ListUse<T>{use.index, use.task}], use.from->sources(patch),
                use_data(use.index).starts};
    }
    template <class T, bool checked = kChecked>
    [[nodiscard]] T& operator[](ScalarUse<T> use) const {
        if constexpr (checked) check_use(*this, use.task, use.index, !std::is_const_v<T>, sizeof(T));
        return *reinterpret_cast<T*>(use_data(use.index).origin);
    }

    template <class T, bool checked = kChecked>
    [[nodiscard]] Numbers<T, checked> operator[](ScalarsUse<T> use) const {
        if constexpr (checked) check_use(*this, use.task, use.index, !std::is_const_v<T>, sizeof(T));
        const UseData& at = use_data(use.index);
        return {reinterpret_cast<T*>(at.origin), at.count - 1};
    }

    /// The patch's object: const where the task needs it. One that the task makes is as it was left last, so
    /// that its memory can be used again; its value may not be relied upon.
    template <class T, bool checked = kChecked>
    [[nodiscard]] T& operator[](ObjectUse<T> use) const {
        if constexpr (checked) check_use(*this, use.task, use.index, !std::is_const_v<T>, sizeof(T));
        return *reinterpret_cast<T*>(use_data(use.index).origin);
    }
    [[nodiscard]] HaloView operator[](HaloUse use) const {
        return HaloView(*reinterpret_cast<const HaloMembers*>(use_data(use.index).origin));
    }
    /// Handles that say themselves what they show (requests.hpp).
    template <class U>
    requires requires(const U& use, const Here& here) { use.in(here); }
    [[nodiscard]] auto operator[](const U& use) const { return use.in(*this); }

    /// Whether results had better be stored past the caches: what the steps use is more than the last-level
    /// caches of the node hold, so a value is gone before it is needed again, and its line need not be read
    /// before it is overwritten. The bits are the same either way.
    [[nodiscard]] bool past_caches() const { return data_.past_caches; }

    /// Throws Error with this message, with task, patch and step before it. The error ends the run. For
    /// values that cannot be (NaN, a negative density).
    [[noreturn]] void fail(std::string_view message) const;

    /// Sets the number of particles on the patch. For the task of the start scope that makes the set's ids.
    /// To be called once, before any access to the set's labels; ids must be unique over all patches. Throws
    /// Error where the task may not call it.
    ///
    /// To delete a particle, any task sets its id to -1: the next relocation drops it.
    void create(SetId set, std::int64_t count) const;

    /// The list for the particles that left their cells. For tasks that declared Task::moves(set); throws
    /// Error in others.
    template <bool checked = kChecked>
    [[nodiscard]] Moved& moved(SetId set) const {
        Moved& found = find_moved(set);
        if constexpr (checked) found.checked = true;
        return found;
    }

    /// Calls body(first, last) for parts of 0..count-1 of `grain` indices each, in up to Task::threads
    /// threads, as many as are free. Which thread gets which part is not determined.
    template <class Body>
    void parallel_for(std::int64_t count, Body&& body, std::int64_t grain = 1) const {
        data_.worker->parallel_for(0, count, std::forward<Body>(body), grain);
    }

    /// For team tasks: a Here for each patch of the family that this process has. Its uses of other families'
    /// labels have no data.
    [[nodiscard]] std::span<const Here> own(const Family& of) const;

  private:
    friend struct InsideHere;
    /// The same, or of a quantity that the case does not have none. (Another way through the code for these
    /// costs kernels that follow up to a fifth of their time.)
    [[nodiscard]] const UseData& use_data_or_none(int use) const {
        static constexpr UseData kNone{};
        return *(use < 0 ? &kNone : &use_data(use));
    }
    [[nodiscard]] Moved& find_moved(SetId set) const;  // moved() without the mark for checks
    [[nodiscard]] const UseData& use_data(int use) const {
        return data_.use_data[static_cast<std::size_t>(use)];
    }
    CallData data_;
};

}  // namespace strata::graph
