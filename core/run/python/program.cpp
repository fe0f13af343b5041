// A solver's program in Python: the driver of core/run, with declarations and verification in Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <memory>
#include <span>
#include <variant>

#include "core/graph/expand/plan.hpp"
#include "core/run/driver/driver.hpp"
#include "core/run/python/bind.hpp"
#include "core/run/python/graph.hpp"
#include "core/run/python/values.hpp"

namespace strata::graph::python {

namespace {

/// A case's keys, and their values after reading.
class PyCase {
  public:
    PyCase(const std::string& solver, const std::string& summary) : schema(solver, summary) {}

    /// `value`: the default; it has the key's type.
    void key(const std::string& name, nb::object value, const std::string& type, KeyAbout about) {
        Value& here = values_.emplace_back(value_of(type, value));
        names_.push_back(name);
        schema.key(name, std::visit([](auto& v) -> CaseSchema::Into { return &v; }, here), std::move(about));
    }
    [[nodiscard]] nb::dict values() const {
        nb::dict all;
        for (std::size_t i = 0; i < names_.size(); ++i)
            all[names_[i].c_str()] = std::visit([](const auto& v) { return nb::cast(v); }, values_[i]);
        return all;
    }

    CaseSchema schema;

  private:
    using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                               std::vector<double>, std::vector<std::string>>;
    static Value value_of(const std::string& type, const nb::object& value) {
        constexpr std::array<std::pair<const char*, int>, 7> types{
            {{"bool", 0}, {"int", 1}, {"float", 2}, {"str", 3}, {"ints", 4}, {"floats", 5}, {"strs", 6}}};
        switch (named("type of a key", type, types)) {
            case 0:
                return nb::cast<bool>(value);
            case 1:
                return nb::cast<std::int64_t>(value);
            case 2:
                return nb::cast<double>(value);
            case 3:
                return nb::cast<std::string>(value);
            case 4:
                return nb::cast<std::vector<std::int64_t>>(value);
            case 5:
                return nb::cast<std::vector<double>>(value);
            default:
                return nb::cast<std::vector<std::string>>(value);
        }
    }

    std::deque<Value> values_;  // the schema writes to them, so their addresses must stay
    std::vector<std::string> names_;
};

/// A run that is over, while it is being verified.
struct PyFinished {
    const Finished* run;
    [[nodiscard]] const Finished& get() const {
        if (run == nullptr) throw Error("the run is over");
        return *run;
    }
};

/// Calls Python with its lock held; converts its exceptions to Error.
template <class Work>
auto with_python(Work work) {
    nb::gil_scoped_acquire lock;
    try {
        return work();
    } catch (const nb::python_error& raised) {
        throw error_of(raised);
    }
}

/// A Python object held by a C++ function. The thread that drops the last copy may not hold Python's lock.
std::shared_ptr<nb::object> held(nb::object object) {
    return {new nb::object(std::move(object)), [](nb::object* it) {
                nb::gil_scoped_acquire lock;
                delete it;
            }};
}

/// What a function of Python's finds: ((what, value, limit, source), [(name, value, unit, higher), ...]).
std::function<Findings(const Finished&)> asking(nb::object function) {
    if (function.is_none()) return {};
    return [function = held(std::move(function))](const Finished& run) {
        return with_python([&]() -> Findings {
            const nb::object finished = nb::cast(PyFinished{&run});
            const nb::object answer = (*function)(finished);
            nb::cast<PyFinished&>(finished).run = nullptr;
            const auto [found, figures] =
                nb::cast<std::pair<std::tuple<std::string, double, double, std::string>,
                                   std::vector<std::tuple<std::string, double, std::string, bool>>>>(answer);
            const auto& [what, value, limit, source] = found;
            std::vector<Figure> all;
            for (const auto& [name, number, unit, higher] : figures)
                all.push_back({name, number, unit, higher});
            return {{what, value, limit, source}, std::move(all)};
        });
    };
}

/// (name, its blocks: (grid, coordinates, blanking or -1)) of shapes of curvilinear blocks.
std::vector<ShownShape> blocks_of(const PyGraph& graph, const nb::object& said) {
    using Block = std::tuple<int, std::vector<int>, int>;
    std::vector<ShownShape> all;
    for (const auto& [name, blocks] :
         nb::cast<std::vector<std::pair<std::string, std::vector<Block>>>>(said)) {
        std::vector<CurvilinearBlock> made;
        for (const auto& [grid, at, blank] : blocks) {
            made.push_back({graph.grid_at(grid), {}, ShownLabel(LabelId(blank))});
            for (const int label : at) made.back().at.labels.emplace_back(label);
        }
        all.push_back(curvilinear(name, made));
    }
    return all;
}

/// (name, grid, coordinates, (corners, offsets, types, blanking), VTK's number) of unstructured cells; -1
/// where there is no such label.
void add_meshes(const PyGraph& graph, const nb::object& said, std::vector<ShownShape>& all) {
    using Mesh = std::tuple<std::string, int, std::vector<int>, std::array<int, 4>, int>;
    for (const auto& [name, grid, at, lists, type] : nb::cast<std::vector<Mesh>>(said)) {
        Coordinates places;
        for (const int label : at) places.labels.emplace_back(label);
        const auto shown = [&](std::size_t which) { return ShownLabel(LabelId(lists[which])); };
        all.push_back(unstructured(name, graph.grid_at(grid), places,
                                   {shown(0), static_cast<CellType>(type), shown(1), shown(2)},
                                   {.blank = shown(3)}));
    }
}

int drive_python(const std::vector<std::string>& words, const std::vector<std::string>& start, PyCase& keys,
                 nb::callable declare, const std::string& compiler, const std::vector<std::string>& sources) {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    std::vector<nb::object> graphs;  // only the last one still has its Graph
    const auto leave = [&] {
        for (const nb::object& graph : graphs) nb::cast<PyGraph&>(graph).leave();
    };
    const auto declared = [&](Graph& graph) {
        return with_python([&] {
            leave();
            graphs.push_back(nb::cast(new PyGraph(graph), nb::rv_policy::take_ownership));
            const nb::object said = declare(graphs.back());
            Solver solver;
            solver.time = Scalar<double>(LabelId(nb::cast<int>(said["time"])));
            solver.end = nb::cast<double>(said["end"]);
            solver.time_unit = nb::cast<std::string>(said["time_unit"]);
            for (const int label : nb::cast<std::vector<int>>(said["series"]))
                solver.series.emplace_back(LabelId(label));
            const auto& here = nb::cast<PyGraph&>(graphs.back());
            solver.shapes = blocks_of(here, said["shapes"]);
            add_meshes(here, said["meshes"], solver.shapes);
            solver.verify = asking(said["verify"]);
            return solver;
        });
    };
    Build build;
    build.compiler = compiler;
    build.sources = sources;
    int status = 0;
    {
        nb::gil_scoped_release others;
        status = drive(static_cast<int>(argv.size()), argv.data(), keys.schema, declared, build, start);
    }
    leave();
    return status;
}

using Terms = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

}  // namespace

void bind_programs(nb::module_& module) {
    nb::class_<PyCase>(module, "Case")
        .def(nb::init<const std::string&, const std::string&>())
        .def("key",
             [](PyCase& self, const std::string& name, nb::object value, const std::string& type,
                const std::string& unit, double least, double most, bool above_least,
                std::vector<std::string> choices, std::pair<std::size_t, std::size_t> entries, bool required,
                bool decides, const std::string& restart,
                std::pair<std::string, std::vector<std::string>> same_with, const std::string& meaning) {
                 constexpr std::array<std::pair<const char*, Restart>, 3> kinds{
                     {{"same", Restart::same}, {"end", Restart::end}, {"any", Restart::any}}};
                 self.key(name, std::move(value), type,
                          {unit, least, most, above_least, std::move(choices), entries, required, decides,
                           named("what a restart may do with a key", restart, kinds), std::move(same_with),
                           meaning});
             })
        .def("read", [](PyCase& self, const std::string& file) { self.schema.read(file); })
        .def("path", [](const PyCase& self, const std::string& key,
                        const std::string& name) { return self.schema.path(key, name).string(); })
        .def("values", &PyCase::values)
        .def("refuse", [](const PyCase& self, const std::string& key, const std::string& message,
                          const std::string& allowed) { self.schema.refuse(key, message, allowed); });
    nb::class_<PyFinished>(module, "Finished")
        .def("patches",
             [](const PyFinished& f, const PyGraph& graph, int family) {
                 const Simulation& run = f.get().simulation();
                 const auto number = number_of(run.plan().graph(), graph.grid_at(family));
                 return run.plan().memory().patches()[number];
             })
        .def("values",
             [](const PyFinished& f, int label, int local) {
                 return copied_values(f.get().simulation(), LabelId(label), local, false);
             })
        .def("value", [](const PyFinished& f,
                         int scalar) { return scalar_value(f.get().simulation(), LabelId(scalar)); })
        .def("sum", [](const PyFinished& f, const Terms& terms) {
            const std::span<const double> all(terms.data(), terms.size());
            const Finished& run = f.get();
            nb::gil_scoped_release others;
            return run.sum(all);
        });
    module.def("drive", &drive_python);
}

}  // namespace strata::graph::python
