#include "core/graph/simulation/made_again.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "core/graph/declare/inside_here.hpp"
#include "core/graph/expand/plan.hpp"

namespace strata::graph {

namespace {

bool is_made_again(const Plan& plan, LabelId label) {
    const std::vector<LabelId>& all = plan.resolved().made_again;
    return std::find(all.begin(), all.end(), label) != all.end();
}

/// Where a label's value of now lies in a plan.
std::map<LabelId, Kept> values_of(const Plan& plan) {
    std::map<LabelId, Kept> all;
    for (const Kept& kept : kept_versions(plan))
        if (kept.back == 0) all.emplace(kept.label, kept);
    return all;
}

/// Makes the graph of the makers. Its step begins with the values of now. Of each object the makers follow
/// each other as if each modified it; one does so only where it made the object that the patch lacks.
class Makers {
  public:
    explicit Makers(const Plan& plan)
        : plan_(plan), values_(values_of(plan)), graph_(plan.graph().without_tasks()) {}

    std::unique_ptr<Graph> graph() && {
        for (const LabelId object : plan_.resolved().made_again) {
            int version = 0;
            for (const TaskInfo& task : plan_.graph().tasks())
                if (std::any_of(task.uses.begin(), task.uses.end(), [&](const Use& use) {
                        return use.version.label == object && use.access == Access::make;
                    }))
                    add(task, object, version++);
        }
        for (const HaloId halo : halos_) {
            graph_->start().renew(halo);
            const ParticleHalo& of = *graph_->particle_halos()[halo];
            taken_.insert({of.position(), graph_->particle_sets()[of.set()].id_label});
        }
        for (const LabelId label : taken_) {
            const LabelInfo& info = graph_->labels()[label];
            if (info.family == nullptr || info.halo) continue;  // scalars need no maker, halos have one
            Task first = graph_->start().task("value of " + info.name, *info.family);
            first.use({Access::make, {label, 0, 0}});
            first.run([](Here&) {});
        }
        return std::move(graph_);
    }

  private:
    void add(const TaskInfo& maker, LabelId object, int version) {
        Task task = graph_->step().task(maker.name, *maker.family);
        task.threads(maker.threads);
        taken_.insert(object);
        for (Use use : maker.uses) {
            const LabelId label = use.version.label;
            if (label == object) {
                use.access = Access::modify;
                use.version = {object, version, 0};
            } else if (use.access == Access::need) {
                use.version = {label, is_made_again(plan_, label) ? -1 : 0, 0};
                taken_.insert(label);
                if (const HaloId halo = graph_->labels()[label].halo) halos_.insert(halo);
            } else {  // what else it makes is there already
                LabelInfo aside = graph_->labels()[label];
                aside.name = fmt::format("{} ({} of {})", aside.name, task.info().uses.size(), maker.name);
                use.version = {graph_->label(std::move(aside)), 0, 0};
            }
            task.use(use);
        }
        if (!maker.where.empty()) task.on([&](int patch) { return maker.runs_on(patch); });
        const StorageId storage = values_.at(object).storage;
        const FamilyId family = number_of(plan_.graph(), *maker.family);
        task.run([&plan = plan_, &maker, storage, family](Here& here) {
            const Objects& objects = plan.memory().objects();
            const int local = plan.assignment().local[family][static_cast<std::size_t>(here.patch)];
            const ObjectMade& made = objects.made(storage, local);
            if (!objects.lacks(storage, local) || made.by != maker.id) return true;
            here.step = made.step;
            here.round = made.round;
            const TaskInfo* self = std::exchange(InsideHere::of(here).task, &maker);
            const bool done = maker.body(here);
            InsideHere::of(here).task = self;
            return done;
        });
    }

    const Plan& plan_;
    std::map<LabelId, Kept> values_;
    std::unique_ptr<Graph> graph_;
    std::set<LabelId> taken_;
    std::set<HaloId> halos_;  // as they were renewed last
};

/// Calls each(label, storage in `of`, its number among the process's patches).
template <class Each>
void each_object(const Plan& of, Each each) {
    for (const auto& [label, kept] : values_of(of))
        for (int local = 0; of.memory().objects().is_object(kept.storage) &&
                            local < of.memory().objects().count(kept.storage);
             ++local)
            each(label, kept.storage, local);
}

}  // namespace

void make_objects_again(const Plan& plan, const std::vector<Epoch>& rounds, team::Crew* crew, int threads) {
    const std::unique_ptr<Graph> graph = Makers(plan).graph();
    SimulationOptions options;
    options.crew = crew;
    options.threads = threads;
    options.assignment = plan.assignment();
    Simulation again(*graph, plan.members(), options);
    const std::map<LabelId, Kept> now = values_of(plan);
    const Objects& objects = plan.memory().objects();
    again.restore(0, [&](const Plan& to) {
        for (const auto& [label, kept] : values_of(to)) {
            if (to.memory().objects().is_object(kept.storage)) continue;
            const Kept& from = now.at(label);
            const Family* family = graph->labels()[label].family;
            const std::size_t patches =
                family == nullptr ? 1 : to.memory().patches()[number_of(*graph, *family)].size();
            for (int local = 0; local < static_cast<int>(patches); ++local)
                write_values(
                    to, kept, local, 0,
                    read_values(plan, from, local, from.scope < rounds.size() ? rounds[from.scope] : 0));
        }
        each_object(to, [&](LabelId label, StorageId storage, int local) {
            to.memory().objects().take(storage, local, objects, now.at(label).storage, local);
        });
    });
    again.advance(1);
    each_object(again.plan(), [&](LabelId label, StorageId storage, int local) {
        const StorageId mine = now.at(label).storage;
        plan.memory().objects().take(mine, local, again.plan().memory().objects(), storage, local);
        plan.memory().objects().lacks(mine, local) = false;
    });
    plan.members().meet();  // nobody frees what others read
}

void forget_objects(const Plan& plan) {
    const Objects& objects = plan.memory().objects();
    each_object(plan, [&](LabelId label, StorageId storage, int local) {
        if (is_made_again(plan, label) && objects.made(storage, local).by) objects.forget(storage, local);
    });
}

bool are_objects_left_behind(const Plan& before, const Plan& now) {
    for (const LabelId object : now.resolved().made_again) {
        const FamilyId family = number_of(now.graph(), *now.graph().labels()[object].family);
        if (before.assignment().owner[family] != now.assignment().owner[family]) return true;
    }
    return false;
}

}  // namespace strata::graph
