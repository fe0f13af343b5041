// A gather whose table is in pieces: each patch's list exists with its owner alone, tasks set it, and it may
// change in any step. No process holds the lists of all patches, and no plan is made anew.
//
//   LocalGather donors(graph, "donors", background, ring, 64);
//   const auto from_background = donors.gather(graph.step(), u);   // in each step, along the lists of now
//   set.run([=, list = donors.set(set)](Here& here) { here[list].add(patch, entry); ... });
//   use.run([=, values = from_background.need(use)](Here& here) { ... here[values][i] ... });
#pragma once

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
            here_.fail(fmt::format("a list has room for {} sources", entries_.size()));
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

/// Values of a version along the lists of a LocalGather.
template <class T>
class Gathered {
  public:
    Gathered(const Questions<std::int32_t>& entries, Scalar<std::int64_t> values)
        : entries_(entries), values_(values) {}
    /// here[use][i] is value i of the patch's list.
    [[nodiscard]] AnswersUse<T> need(Task& task) const { return entries_.answers<T>(task, values_); }

  private:
    Questions<std::int32_t> entries_;
    Scalar<std::int64_t> values_;
};

class LocalGather {
  public:
    /// `most`: entries of one patch's list. Throws Error where that is below 1, or the name is taken.
    LocalGather(Graph& graph, std::string name, const Family& source, const Family& target, int most)
        : graph_(&graph), name_(std::move(name)), entries_(graph, name_, target, source, most) {}

    /// The task sets the lists of its patches, those of the target family. They stay until they are set
    /// again, move with their patches and are in checkpoints. One task of a round may set them.
    [[nodiscard]] LocalSourcesUse set(Task& task) const { return {entries_.list(task)}; }

    /// In each round of the scope, the values of this version along the lists as they are then. A graph's
    /// start and step may each have one scope that gathers. Throws Error for labels of several components.
    template <class T, Kind K>
    [[nodiscard]] Gathered<T> gather(Scope& scope, TypedVersion<T, K> version) {
        static_assert(K == Kind::field || K == Kind::list);
        const LabelInfo& label = graph_->labels()[version.label];
        if (label.components != 1) refuse_components(label);
        tell_owners(scope);
        const std::string of = fmt::format("{}: '{}'", name_, label.name);
        const auto values = entries_.template kind<T>(*graph_, fmt::format("{} {}", of, scope.id().number()));
        Task answer = scope.task(scope.id() == kStep ? of : fmt::format("{} in '{}'", of, scope.name()),
                                 entries_.set().answerers());
        const auto from = answer.need(version);
        const auto asked = entries_.template answer<T>(answer, values);
        answer.run([=](Here& here) {
            const auto view = here[from];
            for (const auto& request : here[asked])
                request.answer() = entry_of(here, view, request.question());
        });
        return {entries_, values};
    }
    template <class T, Kind K>
    [[nodiscard]] Gathered<T> gather(Scope& scope, Label<T, K> label) {
        return gather(scope, label.at(0));
    }

  private:
    void tell_owners(Scope& scope);
    [[noreturn]] void refuse_components(const LabelInfo& label) const;
    static void check_entry(const Here& here, std::int32_t entry, std::int64_t count) {
        if (entry < 0 || entry >= count) here.fail(fmt::format("entry {} of {} is gathered", entry, count));
    }
    template <class T>
    static T entry_of(const Here& here, const ListView<T>& view, std::int32_t entry) {
        check_entry(here, entry, view.size());
        return view[entry];
    }
    template <class T>
    static T entry_of(const Here& here, const FieldView<T>& view, std::int32_t entry) {
        const Box box = view.box();
        check_entry(here, entry, box.volume());
        const int row = entry / box.extent(0);
        return view(box.lo[0] + entry % box.extent(0), box.lo[1] + row % box.extent(1),
                    box.lo[2] + row / box.extent(1));
    }

    Graph* graph_;
    std::string name_;
    Questions<std::int32_t> entries_;
    std::vector<ScopeId> told_;
};

}  // namespace strata::graph
