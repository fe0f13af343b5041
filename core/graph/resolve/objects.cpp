// Objects that live from step to step. Their patches move, and runs go on from checkpoints: an object that
// cannot be packed is then made again by the task that made it. So all that this task needs must still be
// there, as it was, at the end of each step. It is kept for that.
#include <algorithm>

#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

namespace {

class KeepForObjects {
  public:
    explicit KeepForObjects(Model& m) : m_(m) {}

    void all() {
        m_.kept_for_objects.assign(m_.graph.labels().size(), 0);
        for (const LabelId label : m_.labels_by_name) {
            const Timeline* steps = m_.timeline(kStep, label);
            if (steps != nullptr && steps->enters) want(label);
        }
        for (std::size_t i = 0; i < m_.out.made_again.size(); ++i) check(m_.out.made_again[i]);
    }

  private:
    [[nodiscard]] bool is_made_again(LabelId label) const {
        return m_.label(label).kind == Kind::object && !m_.label(label).object->packs();
    }
    void want(LabelId label) {
        std::vector<LabelId>& all = m_.out.made_again;
        if (is_made_again(label) && std::find(all.begin(), all.end(), label) == all.end())
            all.push_back(label);
    }
    [[nodiscard]] const TaskInfo& info(TaskId t) const { return m_.graph.tasks()[m_.task(t).task]; }
    [[nodiscard]] bool is_body(TaskId t) const { return bool(m_.task(t).task); }

    [[nodiscard]] Error refuse(const std::string& why) const {
        const std::string& name = m_.label(object_).name;
        return m_
            .refuse(fmt::format("the object '{}' lives from step to step, but cannot be made again for a "
                                "patch that moves or in a restart: {}",
                                name, why))
            .remedy(fmt::format("give '{}' pack and unpack, or keep a copy of what it is made from (e.g. the "
                                "positions at the time of the build)",
                                name));
    }

    void check(LabelId object) {
        object_ = object;
        makers_.clear();
        for (const TaskId t : m_.tasks_by_name)
            for (const UseInfo& p : m_.uses[t])
                if (p.label == object && p.access != Access::need) makers_.push_back(t);
        for (const TaskId t : makers_) {
            maker_ = t;
            check_maker();
            for (const UseInfo& p : m_.uses[t])
                if (p.label != object && (p.access == Access::need || p.access == Access::modify))
                    check_need(p);
        }
    }

    void check_maker() const {
        const std::string name = m_.say(maker_);
        if (m_.in_processes(maker_)) throw refuse(fmt::format("{} makes it once in each process", name));
        if (info(maker_).where != info(makers_.front()).where)
            throw refuse(
                fmt::format("{} and {} make it on different patches", m_.say(makers_.front()), name));
        for (const UseInfo& p : m_.uses[maker_]) {
            if (p.label == object_ && p.access == Access::modify)
                throw refuse(fmt::format("{} modifies it", name));
            if (p.access == Access::need) continue;
            if (p.label != object_ && is_made_again(p.label))
                throw refuse(fmt::format("{} makes the object '{}' as well", name, m_.label(p.label).name));
            const SetId set = m_.label(p.label).particle_set;
            if (set && p.label == m_.graph.particle_sets()[set].id_label)
                throw refuse(fmt::format("{} creates particles as well", name));
        }
    }

    void check_need(const UseInfo& p) {
        const std::string& name = m_.label(p.label).name;
        if (p.back > 0)
            throw refuse(
                fmt::format("{}, which makes it, needs '{}' as it was before", m_.say(maker_), name));
        if (dynamic_cast<const Gather*>(p.relation) != nullptr)
            throw refuse(
                fmt::format("{}, which makes it, needs '{}' by the table of '{}', which may be replaced",
                            m_.say(maker_), name, p.relation->name()));
        const Timeline* start = m_.timeline(kStart, p.label);
        if (m_.inside(m_.task(maker_).scope, kStart) && start != nullptr)
            for (const Value& later : start->values)
                if (later.maker.task && &later - start->values.data() > p.version)
                    throw changed(name, later.maker.task);
        for (const TaskId t : m_.out.tasks.ids()) {
            if (!m_.inside(m_.task(t).scope, kStep)) continue;
            for (const UseInfo& by : m_.uses[t])
                if (by.label == p.label && by.access != Access::need && !by.contribution.task &&
                    !is_followed(m_.task(t).scope, p.label))
                    throw changed(name, t);
        }
        for (const RelocatedSet& r : m_.relocated)
            if (m_.inside(m_.task(r.task).scope, kStep) && m_.label(p.label).particle_set &&
                set_of(r) == m_.label(p.label).particle_set &&
                (!is_followed(m_.task(r.task).scope, p.label) ||
                 (!m_.label(p.label).halo &&  // these are made anew behind it
                  std::find(r.moved.begin(), r.moved.end(), p.label) == r.moved.end())))
                throw changed(name, r.task);
        m_.kept_for_objects[p.label] = 1;
        if (const HaloId halo = m_.label(p.label).halo) {  // it is found again, too
            const ParticleHalo& of = *m_.graph.particle_halos()[halo];
            m_.kept_for_objects[of.position()] = 1;
            m_.kept_for_objects[m_.graph.particle_sets()[of.set()].id_label] = 1;
        }
        want(p.label);
    }
    [[nodiscard]] SetId set_of(const RelocatedSet& r) const {
        const ResolvedTask& task = m_.task(r.task);
        return m_.scope(task.scope).relocations()[static_cast<std::size_t>(task.relocation)].set;
    }
    [[nodiscard]] Error changed(const std::string& label, TaskId by) const {
        return refuse(fmt::format("{}, which makes it, needs '{}', and {} changes that", m_.say(maker_),
                                  label, m_.say(by)));
    }

    /// Whether each round of the scope in which the label changes makes the object anew, out of the label's
    /// last version there: the scope itself does, or one around it.
    [[nodiscard]] bool is_followed(ScopeId scope, LabelId label) const {
        for (ScopeId s = scope; s; s = m_.scope(s).parent())
            for (const TaskId maker : makers_) {
                if (m_.task(maker).scope != s) continue;
                for (const UseInfo& p : m_.uses[maker])
                    if (p.label == label && p.access == Access::need && p.back == 0 &&
                        p.version == m_.timeline(s, label)->last())
                        return true;
            }
        return false;
    }

    Model& m_;
    LabelId object_;
    std::vector<TaskId> makers_;
    TaskId maker_;
};

}  // namespace

void keep_for_objects(Model& m) { KeepForObjects(m).all(); }

}  // namespace strata::graph::resolving
