// The module behind python/strata/graph: graphs composed, inspected and run from Python.
//
// Kernels are Python functions. They get NumPy arrays over the values in place, and hold Python's lock while
// they run: one at a time in a process, whatever its number of threads. Waits in the runtime are done without
// the lock.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "core/run/python/bind.hpp"

namespace strata::graph::python {

namespace {

std::string text_of(nb::handle object, const char* name) {
    const nb::object value = nb::getattr(object, name, nb::none());
    return value.is_none() ? "" : nb::cast<std::string>(nb::str(value));
}

/// The place of an error, which only its text contains.
std::string place_of(const Error& error) {
    const std::string mark = "  at: ", text = error.text();
    const std::size_t first = text.find('\n', text.find(error.message()) + error.message().size());
    if (first == std::string::npos || text.compare(first + 1, mark.size(), mark) != 0) return "";
    const std::size_t begin = first + 1 + mark.size();
    return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

nb::tuple parts_of(const Error& error) {
    return nb::make_tuple(error.message(), place_of(error), error.given(), error.allowed(), error.remedy(),
                          error.exit_code());
}

Error error_of(const nb::python_error& raised) {
    const nb::handle value = raised.value();
    if (!nb::hasattr(value, "remedy") || !nb::hasattr(value, "code"))
        return Error(raised.what(), kFailure);  // type, text and traceback
    Error error(text_of(value, "message"), nb::cast<int>(value.attr("code")));
    if (const std::string at = text_of(value, "at"); !at.empty()) error.at(at);
    if (const std::string given = text_of(value, "given"); !given.empty()) error.given(given);
    if (const std::string allowed = text_of(value, "allowed"); !allowed.empty()) error.allowed(allowed);
    if (const std::string remedy = text_of(value, "remedy"); !remedy.empty()) error.remedy(remedy);
    return error;
}

}  // namespace strata::graph::python

NB_MODULE(strata_graph, module) {
    using namespace strata::graph::python;
    nb::set_leak_warnings(false);  // arrays and kernels of a run that an error has ended
    static PyObject* native_error =
        PyErr_NewException("strata_graph.NativeError", PyExc_RuntimeError, nullptr);
    module.attr("NativeError") = nb::handle(native_error);
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const strata::Error& error) {
            PyErr_SetObject(native_error, parts_of(error).ptr());
        }
    });
    bind_kernels(module);
    bind_graphs(module);
    bind_simulations(module);
#ifdef STRATA_PYTHON_PROGRAMS
    bind_programs(module);
#endif
}
