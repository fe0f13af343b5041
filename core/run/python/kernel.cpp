#include "core/run/python/kernel.hpp"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/base/error.hpp"
#include "core/graph/declare/inside_here.hpp"
#include "core/run/python/bind.hpp"
#include "core/run/python/values.hpp"

namespace strata::graph::python {

namespace {

const LabelInfo& label_of(const Here& here, std::size_t use) {
    return InsideHere::of(here).task->graph->labels()[InsideHere::of(here).task->uses[use].version.label];
}

template <class T>
nb::object array_over(const Here& here, std::size_t use, const nb::object& owner) {
    const UseData& at = InsideHere::of(here).use_data[use];
    const LabelInfo& label = label_of(here, use);
    auto* values = reinterpret_cast<T*>(at.origin);
    std::array<std::size_t, 3> shape{};
    std::array<std::int64_t, 3> strides{};
    std::size_t axes = 1;
    if (label.kind == Kind::field) {
        axes = 3;
        values += at.box.lo[0] + at.box.lo[1] * at.y + at.box.lo[2] * at.z;
        for (int axis = 0; axis < 3; ++axis)
            shape[2 - static_cast<std::size_t>(axis)] = static_cast<std::size_t>(at.box.extent(axis));
        strides = {at.z, at.y, 1};
    } else {
        shape[0] = static_cast<std::size_t>(label.kind == Kind::scalar ? 1 : at.count);
        strides[0] = 1;
    }
    // With an owner the array is a view: NumPy copies nothing, and does not allow a read-only array to be
    // made writable.
    if (InsideHere::of(here).task->uses[use].access == Access::need)
        return nb::cast(nb::ndarray<nb::numpy, const T>(values, axes, shape.data(), owner, strides.data()),
                        nb::rv_policy::reference);
    return nb::cast(nb::ndarray<nb::numpy, T>(values, axes, shape.data(), owner, strides.data()),
                    nb::rv_policy::reference);
}

}  // namespace

const Here& Call::here() const {
    if (here_ == nullptr) throw Error("a task's arrays are there only while it runs");
    return *here_;
}

const UseData& Call::use_data(int use) const {
    if (use < 0 || static_cast<std::size_t>(use) >= InsideHere::of(here()).use_data.size())
        throw Error("the task has no such use").given(std::to_string(use));
    return InsideHere::of(*here_).use_data[static_cast<std::size_t>(use)];
}

nb::object Call::array(int use) {
    (void)use_data(use);  // throws where there is none
    const auto u = static_cast<std::size_t>(use);
    if (arrays_.size() <= u) arrays_.resize(InsideHere::of(*here_).use_data.size());
    if (!arrays_[u].is_valid())
        arrays_[u] =
            with_type(label_of(*here_, u), [&]<class T>(T) { return array_over<T>(*here_, u, owner_); });
    return arrays_[u];
}

/// The label of an array to which there still are references (a view refers to its array), or "".
std::string Call::kept() const {
    for (std::size_t u = 0; u < arrays_.size(); ++u)
        if (arrays_[u].is_valid() && Py_REFCNT(arrays_[u].ptr()) > 1) return label_of(*here_, u).name;
    return "";
}

std::string Call::finish() {
    if (problem_.empty() && !kept().empty()) {
        nb::module_::import_("gc").attr("collect")();  // reference cycles that a kernel left may hold arrays
        if (const std::string label = kept(); !label.empty())
            problem_ = fmt::format(
                "an array of '{0}' was kept after the task's end, when its memory is used again: keep a "
                "copy, "
                "here[...].copy()",
                label);
    }
    arrays_.clear();
    here_ = nullptr;
    return problem_;
}

std::function<bool(Here&)> body_of(nb::callable kernel, std::function<nb::object()> owner) {
    // Any thread may release the function, so the lock is taken for that too.
    const std::shared_ptr<nb::callable> held(new nb::callable(std::move(kernel)), [](nb::callable* function) {
        nb::gil_scoped_acquire lock;
        delete function;
    });
    return [held, owner = std::move(owner)](Here& here) {
        std::string problem;
        {
            nb::gil_scoped_acquire lock;
            const nb::object call = nb::cast(Call(here, owner()));
            try {
                (*held)(call);
            } catch (const nb::python_error& error) {  // from the code around the kernel
                nb::cast<Call&>(call).raised(error.what());
            }
            problem = nb::cast<Call&>(call).finish();
        }
        if (!problem.empty()) here.fail(problem);
        return true;
    };
}

void bind_kernels(nb::module_& module) {
    nb::class_<Call>(module, "Call")
        .def_prop_ro("patch", [](const Call& c) { return c.here().patch; })
        .def_prop_ro("step", [](const Call& c) { return c.here().step; })
        .def_prop_ro("task", [](const Call& c) { return InsideHere::of(c.here()).task->name; })
        .def("cells", [](const Call& c) { return numbers(c.here().cells()); })
        .def("box", [](const Call& c, int use) { return numbers(c.box(use)); })
        .def("array", &Call::array)
        .def("raised", &Call::raised);
}

}  // namespace strata::graph::python
