// Objects that live from step to step: they move with their patches, and a restart finds them.
#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

void check_objects(const Model& m) {
    for (const LabelId id : m.labels_by_name) {
        const LabelInfo& label = m.label(id);
        if (label.kind != Kind::object || label.object->packs()) continue;
        const int at = m.timeline_at[m.key(kStep, id)];
        if (at < 0 || !m.timelines[static_cast<std::size_t>(at)].enters) continue;
        throw m
            .refuse(fmt::format("the object '{}' lives from step to step, but cannot go to another process "
                                "or into a checkpoint",
                                label.name))
            .remedy(fmt::format("give it pack and unpack: graph.object<T>(\"{}\", family, {{.pack = ..., "
                                ".unpack = ...}})",
                                label.name));
    }
}

}  // namespace strata::graph::resolving
