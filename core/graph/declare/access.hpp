// What a task sees of its data: views of the versions that it declared, and of nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/graph/declare/label.hpp"
#include "core/graph/declare/view.hpp"
#include "core/graph/execute/worker.hpp"

namespace strata::graph {

class Here;

/// The call that this thread is making, for messages: set around each call by who makes it, null between
/// them.
inline constinit thread_local const Here* current_call = nullptr;

/// Handles that Task's declarations return: what to ask Here for. The element type is const where a task may
/// only read. Only the task that declared it may use it: a checking build refuses others.
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
struct ScalarUse {
    int index = -1;
    TaskId task;
};

/// Of a checking build: whether the call may use a handle of this task in this way, for values of so many
/// bytes. Returns the label. Throws Error that names task, patch and label.
const LabelInfo& check_use(const Here& here, TaskId task, int use, bool writes, std::size_t bytes);

/// Where the data of one declared use lies now; filled in by the runtime for each call.
struct UseData {
    std::byte* origin = nullptr;                 // of index (0,0,0), or of the first value
    std::ptrdiff_t y = 0, z = 0, component = 0;  // strides in values
    std::int64_t count = 0;                      // lists, particles
    Box box;
};

/// The particles of a patch of which a task says that they are in another cell now, or deleted.
class Moved {
  public:
    /// Particle i of the patch's arrays. One that is named without need, or twice, costs a little time, no
    /// more. Not from several threads at once.
    void add(std::int64_t i) { all_.push_back(static_cast<std::int32_t>(i)); }
    [[nodiscard]] std::vector<std::int32_t>& all() { return all_; }
    /// For checking builds: relocations make sure that none was left out.
    bool checked = false;

  private:
    std::vector<std::int32_t> all_;
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
#ifdef STRATA_CHECKED_GRAPH
        const LabelInfo& label = check_use(*this, use.task, use.index, !std::is_const_v<T>, sizeof(T));
        const UseData& at = use_data[static_cast<std::size_t>(use.index)];
        return {reinterpret_cast<T*>(at.origin), at.y, at.z, at.component, at.box, label.components,
                ViewSource{this, use.index}};
#else
        const UseData& at = use_data[static_cast<std::size_t>(use.index)];
        return {reinterpret_cast<T*>(at.origin), at.y, at.z, at.component, at.box};
#endif
    }
    template <class T>
    [[nodiscard]] ListView<T> operator[](ListUse<T> use) const {
#ifdef STRATA_CHECKED_GRAPH
        const LabelInfo& label = check_use(*this, use.task, use.index, !std::is_const_v<T>, sizeof(T));
        const UseData& at = use_data[static_cast<std::size_t>(use.index)];
        return {reinterpret_cast<T*>(at.origin), at.count, at.component, label.components,
                ViewSource{this, use.index}};
#else
        const UseData& at = use_data[static_cast<std::size_t>(use.index)];
        return {reinterpret_cast<T*>(at.origin), at.count, at.component};
#endif
    }
    template <class T, bool checked = kChecked>
    [[nodiscard]] T& operator[](ScalarUse<T> use) const {
        if constexpr (checked) check_use(*this, use.task, use.index, !std::is_const_v<T>, sizeof(T));
        return *reinterpret_cast<T*>(use_data[static_cast<std::size_t>(use.index)].origin);
    }

    /// Throws Error with this message, to which task, patch and step are added, which ends the run: for
    /// values that cannot be (NaN, a negative density).
    [[noreturn]] void fail(std::string_view message) const;

    /// In a task of the start scope that makes a set's ids: its patch has so many particles from now on. To
    /// be called once, before anything of the set is looked at; ids must differ from all others, on all
    /// patches. (In any task: a particle whose id is set to -1 is dropped by the next relocation.) Throws
    /// Error where the task may not.
    void create(SetId set, std::int64_t count) const;

    /// In a task that declared Task::moves(set): where it names those that are no longer in the cell in which
    /// they were. Throws Error where it did not.
    template <bool checked = kChecked>
    [[nodiscard]] Moved& moved(SetId set) const {
        Moved& found = find_moved(set);
        if constexpr (checked) found.checked = true;
        return found;
    }

    /// body(first, last) for parts of 0..count-1 of `grain` each, in as many threads as the task was given
    /// (Task::threads) and are free. Which gets which part is not determined.
    template <class Body>
    void parallel_for(std::int64_t count, Body&& body, std::int64_t grain = 1) const {
        worker->parallel_for(0, count, std::forward<Body>(body), grain);
    }

    /// Of a task of the whole team: what it sees of each patch of a family that this process has. Uses of
    /// labels of other families are not there.
    [[nodiscard]] std::span<const Here> own(const Family& of) const;

    std::span<const UseData> use_data;  // one for each declared use, in the order of declaration
    const struct TaskInfo* task = nullptr;
    Worker* worker = nullptr;
    struct Own {
        const Family* family;
        std::span<const Here> patches;
    };
    std::span<const Own> owns;  // of a task of the whole team
    struct MovedOfSet {
        SetId set;
        Moved* moved;
    };
    [[nodiscard]] Moved& find_moved(SetId set) const;  // what moved() is
    std::span<const MovedOfSet> moves;                 // one for each set of TaskInfo::moves
    void* call = nullptr;                              // what create() is asked of
    void (*creates)(void* call, SetId set, std::int64_t count) = nullptr;
};

}  // namespace strata::graph
