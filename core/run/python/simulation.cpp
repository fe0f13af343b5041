// A graph that runs in the Python process itself: for notebooks, tests and inspection.
#include "core/graph/simulation/simulation.hpp"
#include "core/graph/expand/plan.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/run/python/bind.hpp"
#include "core/run/python/graph.hpp"
#include "core/run/python/values.hpp"

namespace strata::graph::python {

namespace {

const LabelInfo& label_of(const Simulation& run, LabelId label) {
    const auto& labels = run.plan().graph().labels();
    if (!labels.has(label)) throw Error("the graph has no such label").given(std::to_string(label.number()));
    return labels[label];
}

class PySimulation {
  public:
    PySimulation(PyGraph& graph, int threads)
        : graph_(graph), run_(graph.get(), Members::alone(), {.threads = threads}) {}

    [[nodiscard]] Simulation& run() { return run_; }
    [[nodiscard]] const Simulation& run() const { return run_; }
    /// While it runs, kernels' arrays keep this object alive, and Python's lock is free for other threads.
    template <class Work>
    auto with_owner(nb::handle self, Work work) {
        const Owner owner(graph_, self);
        nb::gil_scoped_release others;
        return work(run_);
    }
    void need_start(bool started) const {
        if (started != started_) throw Error(started ? "a run begins with start()" : "a run is started once");
    }
    void started() { started_ = true; }

  private:
    struct Owner {
        Owner(PyGraph& graph, nb::handle self) : graph(graph) { graph.owner = self; }
        ~Owner() { graph.owner = nb::handle(); }
        PyGraph& graph;
    };
    PyGraph& graph_;
    Simulation run_;
    bool started_ = false;
};

/// The values of a patch, as an array of its own.
template <class T>
nb::object copied(const std::vector<std::byte>& bytes, const LabelInfo& info, int patch, bool border) {
    using Array = nb::ndarray<nb::numpy, T>;
    auto* copy = new T[bytes.size() / sizeof(T)];
    std::memcpy(copy, bytes.data(), bytes.size());
    const nb::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    if (info.kind != Kind::field) {
        const std::size_t count = bytes.size() / sizeof(T);
        return nb::cast(Array(copy, 1, &count, owner));
    }
    const auto& grid = static_cast<const Grid&>(*info.family);
    const Box all = grid.owned(patch, info.on, info.border);
    const Box shown = border ? all : grid.owned(patch, info.on);
    std::array<std::size_t, 3> shape{};
    for (std::size_t d = 0; d < 3; ++d)
        shape[d] = static_cast<std::size_t>(shown.extent(2 - static_cast<int>(d)));
    const std::int64_t row = all.extent(0), plane = row * all.extent(1);
    const std::array<std::int64_t, 3> strides{plane, row, 1};
    T* first = copy + (shown.lo[0] - all.lo[0]) + (shown.lo[1] - all.lo[1]) * row +
               (shown.lo[2] - all.lo[2]) * plane;
    return nb::cast(Array(first, 3, shape.data(), owner, strides.data()));
}

}  // namespace

nb::object copied_values(const Simulation& run, LabelId label, int local, bool border) {
    const LabelInfo& info = label_of(run, label);
    for (const Kept& kept : kept_versions(run.plan())) {
        if (kept.label != label || kept.back != 0) continue;
        const FamilyId family = number_of(run.plan().graph(), *info.family);
        const std::vector<int>& patches = run.plan().memory().patches()[family];
        if (local < 0 || static_cast<std::size_t>(local) >= patches.size())
            throw Error("there is no such patch here")
                .given(std::to_string(local))
                .allowed(fmt::format("0 to {}", patches.size() - 1));
        const std::vector<std::byte> bytes = run.values(kept, local);
        return with_type(info, [&]<class T>(T) {
            return copied<T>(bytes, info, patches[static_cast<std::size_t>(local)], border);
        });
    }
    throw Error("nothing is kept of this label after a step")
        .given(info.name)
        .allowed("fields and lists that have a history, or are needed in the next step");
}

double scalar_value(const Simulation& run, LabelId label) {
    if (const LabelInfo& info = label_of(run, label); info.kind != Kind::scalar)
        throw Error("only a scalar has one value").given(info.name);
    return run.value(Scalar<double>(label));
}

void bind_simulations(nb::module_& module) {
    nb::class_<PySimulation>(module, "Simulation")
        .def(nb::init<PyGraph&, int>(), nb::keep_alive<1, 2>())
        .def("start",
             [](nb::handle self) {
                 auto& it = nb::cast<PySimulation&>(self);
                 it.need_start(false);
                 it.with_owner(self, [](Simulation& run) { run.start(); });
                 it.started();
             })
        .def("advance",
             [](nb::handle self, std::int64_t steps) {
                 auto& it = nb::cast<PySimulation&>(self);
                 it.need_start(true);
                 return it.with_owner(self, [steps](Simulation& run) { return run.advance(steps); });
             })
        .def("step", [](const PySimulation& s) { return s.run().step(); })
        .def("stopped", [](const PySimulation& s) { return s.run().stopped(); })
        .def("stop_at",
             [](PySimulation& s, int scalar, double value) {
                 scalar_value(s.run(), LabelId(scalar));
                 s.run().stop_when<double>(Scalar<double>(LabelId(scalar)),
                                           [value](double now) { return now >= value; });
             })
        .def("value",
             [](const PySimulation& s, int scalar) {
                 s.need_start(true);
                 return scalar_value(s.run(), LabelId(scalar));
             })
        .def("values",
             [](const PySimulation& s, int label, int patch) {
                 s.need_start(true);
                 return copied_values(s.run(), LabelId(label), patch, true);
             })
        .def("bytes", [](const PySimulation& s) { return s.run().plan().memory().bytes(); });
}

}  // namespace strata::graph::python
