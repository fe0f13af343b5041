// Ids of the parts of a graph. Each kind of part has an id type of its own, so a label's id cannot be used as
// a task's.
//
//   const LabelId temperature = T.id();
//   graph.labels()[temperature].name;         // a list by id
//   for (const TaskId task : graph.tasks().ids()) ...
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <deque>
#include <vector>

namespace strata::graph {

/// The index of an `Of` in the list of all of them. -1, which converts to false: none.
template <class Of>
class Id {
  public:
    constexpr Id() = default;
    template <std::integral Number>
    constexpr explicit Id(Number number) : number_(static_cast<int>(number)) {}
    /// For files, messages between processes, and other languages.
    [[nodiscard]] constexpr int number() const { return number_; }
    constexpr explicit operator bool() const { return number_ >= 0; }
    friend constexpr auto operator<=>(const Id&, const Id&) = default;

  private:
    int number_ = -1;
};

using FamilyId = Id<class Family>;      // in Graph::families()
using LabelId = Id<struct LabelInfo>;   // in Graph::labels()
using ScopeId = Id<class Scope>;        // in Graph::scopes()
using SetId = Id<struct ParticleSet>;   // in Graph::particle_sets()
using HaloId = Id<class ParticleHalo>;  // in Graph::particle_halos()
using TaskId = Id<struct TaskInfo>;     // in Graph::tasks(), and, with sums and the like, in Resolved::tasks
using StorageId = Id<struct Storage>;   // in Resolved::storages

/// The ids from 0 to `past`, without `past`.
template <class By>
struct IdsBelow {
    struct Iterator {
        int number;
        By operator*() const { return By(number); }
        Iterator& operator++() { return ++number, *this; }
        friend bool operator==(const Iterator&, const Iterator&) = default;
    };
    By past;
    [[nodiscard]] Iterator begin() const { return {0}; }
    [[nodiscard]] Iterator end() const { return {past.number()}; }
};

/// A list whose elements are found by id.
template <class By, class List>
class Indexed : public List {
  public:
    using List::List;
    [[nodiscard]] decltype(auto) operator[](By id) {
        return List::operator[](static_cast<std::size_t>(id.number()));
    }
    [[nodiscard]] decltype(auto) operator[](By id) const {
        return List::operator[](static_cast<std::size_t>(id.number()));
    }
    /// Whether there is an element of that id.
    [[nodiscard]] bool has(By id) const { return id && static_cast<std::size_t>(id.number()) < this->size(); }
    /// The id of the element that is added next.
    [[nodiscard]] By next() const { return By(this->size()); }
    /// All ids, ascending: for (const TaskId task : tasks.ids()).
    [[nodiscard]] IdsBelow<By> ids() const { return {next()}; }
};

template <class By, class T>
using VectorBy = Indexed<By, std::vector<T>>;
template <class By, class T>
using DequeBy = Indexed<By, std::deque<T>>;

}  // namespace strata::graph
