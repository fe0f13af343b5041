// Kernels written in Python: their arguments, and how their errors end a run.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <string>
#include <vector>

#include "core/graph/declare/graph.hpp"

namespace strata::graph::python {

namespace nb = nanobind;

/// One call of a kernel. Arrays [use] are made at their first use. After the kernel has returned no reference
/// to them may remain.
class Call {
  public:
    /// `owner`: keeps the memory of the values alive as long as arrays over them live; may be None.
    Call(const Here& here, nb::object owner) : here_(&here), owner_(std::move(owner)) {}

    /// Throws Error once the kernel has returned.
    [[nodiscard]] const Here& here() const;
    /// The values of a declared use, as a NumPy array over their memory: [z, y, x], or [i] for scalars and
    /// lists. Read-only where the task only needs them.
    nb::object array(int use);
    [[nodiscard]] const Box& box(int use) const { return use_data(use).box; }
    /// Keeps the text of an exception that the kernel raised: the run ends with it.
    void raised(std::string text) { problem_ = std::move(text); }

    /// To be called when the kernel has returned, with Python's lock held. Returns the reason why the run
    /// cannot go on, or "".
    std::string finish();

  private:
    [[nodiscard]] const UseData& use_data(int use) const;
    [[nodiscard]] std::string kept() const;

    const Here* here_;
    nb::object owner_;
    std::vector<nb::object> arrays_;
    std::string problem_;
};

/// The function of a task: calls `kernel(Call)` with Python's lock held. `owner` is called each time.
std::function<bool(Here&)> body_of(nb::callable kernel, std::function<nb::object()> owner);

void bind_kernels(nb::module_& module);

}  // namespace strata::graph::python
