#include "core/graph/resolve/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <tuple>

#include "core/base/json.hpp"

namespace strata::graph {

namespace {

const char* name_of(Kind kind) {
    constexpr const char* names[] = {"field", "list", "particles", "scalar", "object"};
    return names[static_cast<std::size_t>(kind)];
}
const char* name_of(On on) {
    constexpr const char* names[] = {"cells", "nodes", "faces_x", "faces_y", "faces_z"};
    return names[static_cast<std::size_t>(on)];
}
const char* name_of(Element element) {
    constexpr const char* names[] = {"f64", "f32", "i64", "i32", "u8", "bytes"};
    return names[static_cast<std::size_t>(element)];
}
const char* name_of(Runs runs) {
    constexpr const char* names[] = {"on patches", "in processes", "once"};
    return names[static_cast<std::size_t>(runs)];
}
const char* name_of(Access access) {
    constexpr const char* names[] = {"need", "make", "modify", "sum", "contribute"};
    return names[static_cast<std::size_t>(access)];
}
const char* name_of(Scope::Form form) {
    constexpr const char* names[] = {"start", "step", "repeat", "when", "subcycle"};
    return names[static_cast<std::size_t>(form)];
}
const char* name_of(ResolvedTask::What what) {
    constexpr const char* names[] = {"task", "combine", "reduce", "relocate"};
    return names[static_cast<std::size_t>(what)];
}

/// "ghosts 1", "ghosts 2 2 0", "ghosts 1 without corners", "upwind x+ y-", "upwind x+ y- 2 with corners",
/// "upwind x+ within zones", "reach 1", "reach 0 0 0 to 1 1 1", a relation's name, or "" for the own patch.
std::string through(const Use& use) {
    if (use.relation != nullptr) return use.relation->name();
    const Int3& w = use.width;
    if (w == Int3{}) return "";
    if (use.towards != Int3{}) {
        std::string text = "upwind";
        for (std::size_t a = 0; a < 3; ++a)
            if (use.towards[a] != 0) text += fmt::format(" {}{}", "xyz"[a], use.towards[a] > 0 ? '+' : '-');
        if (const int layers = std::max({w[0], w[1], w[2]}); layers > 1) text += fmt::format(" {}", layers);
        return text + (use.corners ? " with corners" : "") + (use.in_zone ? " within zones" : "");
    }
    const char* what = use.access == Access::sum ? "reach" : "ghosts";
    if (use.unreached != std::array<Int3, 2>{}) {
        const auto& [below, above] = use.unreached;
        return fmt::format("reach {} {} {} to {} {} {}", below[0] - w[0], below[1] - w[1], below[2] - w[2],
                           w[0] - above[0], w[1] - above[1], w[2] - above[2]);
    }
    const char* but = use.faces_alone ? " without corners" : "";
    if (w[0] == w[1] && w[1] == w[2]) return fmt::format("{} {}{}", what, w[0], but);
    return fmt::format("{} {} {} {}{}", what, w[0], w[1], w[2], but);
}

struct Bytes {
    std::int64_t patch = 0, all = 0;  // of the largest patch, of all patches
};

class Document {
  public:
    Document(const Graph& graph, const Resolved& resolved, std::ostream& out)
        : graph_(graph), resolved_(resolved), json_(out) {}

    void write() {
        json_.object().member("schema", "strata.graph/1").member("graph", graph_.name());
        families();
        labels();
        scopes();
        tasks();
        edges();
        storages();
        std::vector<int> path;
        for (const TaskId t : resolved_.critical_path) path.push_back(t.number());
        json_.members("critical_path", path).members("warnings", resolved_.warnings);
        json_.end();
    }

  private:
    [[nodiscard]] const LabelInfo& label(LabelId id) const { return graph_.labels()[id]; }
    [[nodiscard]] const ResolvedTask& task(TaskId id) const { return resolved_.tasks[id]; }
    [[nodiscard]] const Use* use(TaskId t, std::size_t u) const {
        const TaskId body = task(t).task;
        return !body ? nullptr : &graph_.tasks()[body].uses[u];
    }

    void families() {
        std::vector<const Family*> all;
        const auto add = [&](const Family* family) {
            if (family != nullptr && std::find(all.begin(), all.end(), family) == all.end())
                all.push_back(family);
        };
        for (const auto& family : graph_.families()) add(family.get());
        for (const LabelInfo& l : graph_.labels()) add(l.family);
        for (const TaskInfo& t : graph_.tasks()) add(t.family);
        json_.key("families").array();
        for (const Family* family : all) {
            json_.object().member("name", family->name()).member("patches", family->patches());
            if (const auto* grid = dynamic_cast<const Grid*>(family))
                json_.member("cells", grid->all_cells());
            json_.end();
        }
        json_.end();
    }

    void labels() {
        json_.key("labels").array();
        for (const LabelInfo& l : graph_.labels()) {
            json_.object().member("name", l.name).member("kind", name_of(l.kind));
            if (l.family != nullptr) json_.member("family", l.family->name());
            if (l.kind == Kind::field) json_.member("on", name_of(l.on));
            json_.member("element", name_of(l.element)).member("components", l.components);
            json_.member("history", l.history).member("unit", l.unit).member("about", l.about).end();
        }
        json_.end();
    }

    void scopes() {
        json_.key("scopes").array();
        for (const ResolvedScope& r : resolved_.scopes) {
            const Scope& s = graph_.scopes()[r.scope];
            json_.object()
                .member("id", r.scope.number())
                .member("name", s.name())
                .member("form", name_of(s.form()));
            json_.member("parent", s.parent().number()).member("most", s.most());
            if (r.decision.label)
                json_.member("decided_by", label(r.decision.label).name)
                    .member("decided_by_task", r.decided_by.number());
            json_.key("order").array();
            for (const auto& [task, inner] : r.order)
                json_.object().member(inner ? "scope" : "task", inner ? inner.number() : task.number()).end();
            json_.end().end();
        }
        json_.end();
    }

    void tasks() {
        json_.key("tasks").array();
        for (const TaskId t : resolved_.tasks.ids()) {
            const ResolvedTask& it = task(t);
            json_.object().member("id", t.number()).member("name", it.name).member("what", name_of(it.what));
            json_.member("scope", it.scope.number()).member("rank", it.rank);
            const TaskInfo* info = !it.task ? nullptr : &graph_.tasks()[it.task];
            if (info != nullptr && info->family != nullptr) json_.member("family", info->family->name());
            if (info != nullptr) {
                json_.member("runs", name_of(info->runs));
                json_.member("flops", info->flops).member("bytes", info->bytes);
            }
            if (info != nullptr && !info->where.empty())
                json_.member("patches", std::count(info->where.begin(), info->where.end(), true));
            json_.key("uses").array();
            for (std::size_t u = 0; u < it.uses.size(); ++u) {
                const ResolvedUse& r = it.uses[u];
                const Use* declared = use(t, u);
                json_.object()
                    .member("label", label(r.label).name)
                    .member("version", r.version)
                    .member("back", r.back);
                json_.member("storage", r.storage.number()).member("maker", r.maker.number());
                json_.member("access", declared != nullptr                       ? name_of(declared->access)
                                       : it.what == ResolvedTask::What::relocate ? "modify"
                                       : u == 0                                  ? "make"
                                                                                 : "need");
                if (declared != nullptr) json_.member("through", through(*declared));
                json_.end();
            }
            json_.end().key("before").array();
            for (const Before& b : it.before) {
                json_.object()
                    .member("task", b.task.number())
                    .member("lag", b.lag)
                    .member("overwrites", b.backward);
                if (b.through_use >= 0 && task(b.through_task).task)
                    json_.member("through",
                                 through(*use(b.through_task, static_cast<std::size_t>(b.through_use))));
                json_.end();
            }
            json_.end().end();
        }
        json_.end();
    }

    /// One for each label, version and relation by which a task needs a value of another. A need without a
    /// wait of its own, since a wider need implies it, is not listed.
    void edges() {
        std::set<std::tuple<TaskId, TaskId, LabelId, int, std::string, int>>
            all;  // from, to, label, version, through, lag
        for (const TaskId t : resolved_.tasks.ids())
            for (const Before& b : task(t).before) {
                if (b.backward) continue;
                for (std::size_t u = 0; u < task(t).uses.size(); ++u) {
                    const ResolvedUse& r = task(t).uses[u];
                    const Use* own = use(t, u);
                    if (b.through_task == t && b.through_use >= 0 && b.through_use != static_cast<int>(u))
                        continue;
                    const bool takes =
                        own == nullptr || own->access == Access::need || own->access == Access::modify;
                    if (!takes || !writes(b.task, r.label) ||
                        (own == nullptr && r.maker != b.task && r.maker == t &&
                         task(t).what != ResolvedTask::What::relocate))
                        continue;
                    const bool modifies = own == nullptr ? task(t).what == ResolvedTask::What::relocate
                                                         : own->access == Access::modify;
                    const bool sums = own == nullptr && b.through_use >= 0;
                    const std::string by =
                        own != nullptr ? through(*own)
                        : sums ? through(*use(b.through_task, static_cast<std::size_t>(b.through_use)))
                               : "";
                    all.insert({b.task, t, r.label, r.version - (modifies ? 1 : 0), by, b.lag});
                }
            }
        json_.key("edges").array();
        for (const auto& [from, to, l, version, by, lag] : all)
            json_.object()
                .member("from", from.number())
                .member("to", to.number())
                .member("label", label(l).name)
                .member("version", version)
                .member("through", by)
                .member("lag", lag)
                .end();
        json_.end();
    }
    [[nodiscard]] bool writes(TaskId t, LabelId l) const {
        const ResolvedTask& it = task(t);
        for (std::size_t u = 0; u < it.uses.size(); ++u) {
            const Use* declared = use(t, u);
            if (it.uses[u].label != l) continue;
            if (declared != nullptr ? declared->access != Access::need
                                    : u == 0 || it.what == ResolvedTask::What::relocate)
                return true;
        }
        return false;
    }

    [[nodiscard]] Bytes bytes_of(const Storage& s) const {
        const LabelInfo& l = label(s.label);
        const std::int64_t each = static_cast<std::int64_t>(l.bytes) * l.components * s.depth;
        if (l.kind == Kind::particles) return {each, each};
        if (l.kind == Kind::scalar && !s.contributions) return {each, each};
        const Family* family = s.onto != nullptr ? &s.onto->target() : l.family;
        if (l.kind == Kind::scalar) return {each, each};
        Bytes bytes;
        for (int p = 0; p < family->patches(); ++p) {
            std::int64_t count = 0;
            if (l.kind == Kind::object)
                count = 1;
            else if (l.kind == Kind::list)
                count = l.entries(p);
            else if (s.onto != nullptr)
                count = s.onto->window(p, l.on).volume();
            else {
                const Box own = static_cast<const Grid*>(family)->owned(p, l.on, l.border);
                count = (s.contributions ? own.grown(s.ghosts) : own).volume();
            }
            bytes.patch = std::max(bytes.patch, count * each);
            bytes.all += count * each;
        }
        return bytes;
    }

    void storages() {
        std::int64_t patch = 0, all = 0;
        json_.key("storages").array();
        for (const StorageId i : resolved_.storages.ids()) {
            const Storage& s = resolved_.storages[i];
            json_.object().member("id", i.number()).key("labels").array();
            for (const LabelId l : s.labels()) json_.value(label(l).name);
            json_.end()
                .member("depth", s.depth)
                .member("kept", s.kept)
                .member("contributions", s.contributions);
            json_.key("ghosts").array();
            for (const int g : s.ghosts) json_.value(g);
            json_.end();
            const Bytes bytes = bytes_of(s);
            const bool particles = label(s.label).kind == Kind::particles;
            json_.member("per_particle", particles);
            json_.member("bytes_per_patch", bytes.patch).member("bytes", bytes.all).end();
            if (!particles) patch += bytes.patch, all += bytes.all;
        }
        json_.end().key("memory").object().member("bytes_per_patch", patch).member("bytes", all).end();
    }

    const Graph& graph_;
    const Resolved& resolved_;
    Json json_;
};

}  // namespace

void describe(const Graph& graph, const Resolved& resolved, std::ostream& out) {
    Document(graph, resolved, out).write();
}

std::string describe(const Graph& graph, const Resolved& resolved) {
    std::ostringstream out;
    describe(graph, resolved, out);
    return out.str();
}

}  // namespace strata::graph
