// A gather whose table is in pieces: each patch's list exists with its owner alone, tasks set it, and it may
// change in any step. No process holds the lists of all patches, and no plan is made anew.
//
//   LocalGather donors(graph, "donors", background, ring, 64);
//   const auto from_background = donors.gather(graph.step(), u);   // in each step, along the lists of now
//   set.run([=, list = donors.set(set)](Here& here) { here[list].add(patch, entry); ... });
//   use.run([=, values = from_background.need(use)](Here& here) { ... here[values][i] ... });
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <type_traits>

#include "core/graph/declare/requests.hpp"

namespace strata::graph {

/// The list of a patch, as its task writes it: empty at first.
class LocalSources {
  public:
    LocalSources(const Here& here, const Asking<std::int32_t>& entries) : here_(here), entries_(entries) {}
    /// The next value is this entry of the patch: of a list, or of a field's owned values, x fastest. Ends
    /// the run where there is no such patch, or no room.
    void add(int patch, std::int32_t entry) const {
        if (!entries_.add(patch, entry))
            here_.fail(
                fmt::format("adds more values to a list than the {} that it has room for: say more where "
                            "the LocalGather is made (`most`)",
                            entries_.size()));
    }
    [[nodiscard]] int size() const { return entries_.size(); }

  private:
    const Here& here_;
    Asking<std::int32_t> entries_;
};
struct LocalSourcesUse {
    AskUse<std::int32_t> entries;
    [[nodiscard]] LocalSources in(const Here& here) const { return {here, here[entries]}; }
};

/// The values of a patch's list.
template <class T>
class GatheredView {
  public:
    GatheredView(const Here& here, std::span<const T> values, int components)
        : here_(&here), values_(values), components_(components) {}
    /// Entries of the list.
    [[nodiscard]] std::size_t size() const { return values_.size() / static_cast<std::size_t>(components_); }
    [[nodiscard]] const T& operator[](std::size_t i) const { return (*this)(i, 0); }
    [[nodiscard]] const T& operator()(std::size_t i, int c) const {
        if constexpr (kChecked) check(i, c);
        return values_[i * static_cast<std::size_t>(components_) + static_cast<std::size_t>(c)];
    }
    /// All components of entry 0, those of entry 1 ...
    [[nodiscard]] const T* data() const { return values_.data(); }

  private:
    void check(std::size_t i, int c) const {
        if (i >= size() || c < 0 || c >= components_)
            here_->fail(
                fmt::format("reads value {}, component {} of a list, both from 0, which has {} values of "
                            "{} components",
                            i, c, size(), components_));
    }
    const Here* here_;
    std::span<const T> values_;
    int components_;
};
template <class T>
struct GatheredUse {
    AnswersUse<T> values;
    [[nodiscard]] GatheredView<T> in(const Here& here) const {
        return {here, here[values], values.components};
    }
};

/// Values of a version along the lists of a LocalGather.
template <class T>
class Gathered {
  public:
    Gathered(const Questions<std::int32_t>& entries, Scalar<std::int64_t> values, int components)
        : entries_(entries), values_(values), components_(components) {}
    /// here[use][i] is value i of the patch's list, here[use](i, c) component c of it.
    [[nodiscard]] GatheredUse<T> need(Task& task) const {
        return {entries_.answers<T>(task, values_, components_)};
    }

  private:
    Questions<std::int32_t> entries_;
    Scalar<std::int64_t> values_;
    int components_;
};

namespace detail {

/// Quotients of numbers below 2^32 by one of them, by a multiplication (D. Lemire, O. Kaser, N. Kurz, Faster
/// remainder by direct computation, 2019).
class Quotient {
  public:
    explicit Quotient(int divisor)
        : factor_(divisor == 1 ? 0 : ~std::uint64_t{0} / static_cast<std::uint32_t>(divisor) + 1) {}
    [[nodiscard]] std::uint32_t of(std::uint32_t number) const {
        __extension__ using Wide = unsigned __int128;
        return factor_ == 0 ? number : static_cast<std::uint32_t>(Wide{factor_} * number >> 64);
    }

  private:
    std::uint64_t factor_;
};

/// Entries of a field's own values, x fastest.
template <class T>
class Entries {
  public:
    explicit Entries(const FieldView<T>& view)
        : view_(view), box_(view.box()), x_(box_.extent(0)), y_(box_.extent(1)), count_(box_.volume()) {}
    [[nodiscard]] std::int64_t count() const { return count_; }
    void copy(std::int32_t entry, int components, std::remove_const_t<T>* to) const {
        const auto e = static_cast<std::uint32_t>(entry);
        const std::uint32_t row = x_.of(e), plane = y_.of(row);
        const int i = static_cast<int>(e) - static_cast<int>(row) * box_.extent(0) + box_.lo[0],
                  j = static_cast<int>(row) - static_cast<int>(plane) * box_.extent(1) + box_.lo[1],
                  k = static_cast<int>(plane) + box_.lo[2];
        for (int c = 0; c < components; ++c) to[c] = view_(i, j, k, c);
    }

  private:
    FieldView<T> view_;
    Box box_;
    Quotient x_, y_;
    std::int64_t count_;
};
template <class T>
class ListEntries {
  public:
    explicit ListEntries(const ListView<T>& view) : view_(view) {}
    [[nodiscard]] std::int64_t count() const { return view_.size(); }
    void copy(std::int32_t entry, int components, std::remove_const_t<T>* to) const {
        to[0] = view_[entry];
        for (int c = 1; c < components; ++c) to[c] = view_.component(c)[static_cast<std::size_t>(entry)];
    }

  private:
    ListView<T> view_;
};
template <class T>
[[nodiscard]] Entries<T> entries_of(const FieldView<T>& view) {
    return Entries<T>(view);
}
template <class T>
[[nodiscard]] ListEntries<T> entries_of(const ListView<T>& view) {
    return ListEntries<T>(view);
}

}  // namespace detail

class LocalGather {
  public:
    /// `most`: entries of one patch's list. Throws Error where that is below 1, or the name is taken.
    LocalGather(Graph& graph, std::string name, const Family& source, const Family& target, int most)
        : graph_(&graph), name_(std::move(name)), entries_(graph, name_, target, source, most) {}

    /// The task sets the lists of its patches, those of the target family. They stay until they are set
    /// again, move with their patches and are in checkpoints. One task of a round may set them.
    [[nodiscard]] LocalSourcesUse set(Task& task) const { return {entries_.list(task)}; }

    /// In each round of the scope, the values of this version along the lists as they are then.
    template <class T, Kind K>
    [[nodiscard]] Gathered<T> gather(Scope& scope, TypedVersion<T, K> version) {
        static_assert(K == Kind::field || K == Kind::list);
        const LabelInfo& label = graph_->labels()[version.label];
        const Questions<std::int32_t>& entries = lists_in(scope);
        const std::string of = name_of(version);
        const int components = label.components;
        const auto values = entries.template kind<T>(*graph_, fmt::format("{} {}", of, scope.id().number()),
                                                     components, true);
        Task answer = scope.task(scope.id() == kStep ? of : fmt::format("{} in '{}'", of, scope.name()),
                                 entries.set().answerers());
        const auto from = answer.need(version);
        const auto asked = entries.template answer<T>(answer, values, components);
        answer.run([=](Here& here) {
            const auto source = detail::entries_of(here[from]);
            const std::int64_t count = source.count();
            here[asked].each([&](const Request<std::int32_t, T>& request) {
                const std::int32_t entry = request.question();
                if (entry < 0 || entry >= count)
                    here.fail(count == 0
                                  ? fmt::format("a list takes entry {} of this patch, which has none", entry)
                                  : fmt::format("a list takes entry {} of this patch, which has 0 to {}",
                                                entry, count - 1));
                source.copy(entry, components, request.answered);
            });
        });
        return {entries, values, components};
    }
    template <class T, Kind K>
    [[nodiscard]] Gathered<T> gather(Scope& scope, Label<T, K> label) {
        return gather(scope, scope.newest(label));
    }

  private:
    /// The lists as this scope sends them off.
    [[nodiscard]] const Questions<std::int32_t>& lists_in(Scope& scope);
    [[nodiscard]] std::string name_of(const Version& version) const;

    Graph* graph_;
    std::string name_;
    Questions<std::int32_t> entries_;
    std::map<ScopeId, Questions<std::int32_t>> sent_;  // by scope
};

}  // namespace strata::graph
