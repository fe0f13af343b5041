// The data of operations on halos of particles.
#include "core/graph/expand/stages.hpp"

namespace strata::graph::detail {

HaloCalls::HaloCalls(const PlanInputs& in, const ParticleHalo& halo, int patch)
    : in_(in), halo_(halo), patch_(patch), family_(number_of(in.graph, halo.source())) {}

const ParticlePatch& HaloCalls::particles(int patch) const {
    return in_.memory.populations().of(in_.owner(family_, patch), halo_.set(), in_.local(family_, patch));
}

HaloPatch& HaloCalls::halo_of(int patch) const {
    return in_.memory.halos().patch(in_.owner(family_, patch), halo_.id(), in_.local(family_, patch));
}

std::span<const HaloSource> HaloCalls::sources(ProgramData& all) const {
    const Real3& spacing = in_.grid(family_).shape().spacing;
    std::vector<HaloSource> links;
    for (const ParticleHalo::Link& link : halo_.links(patch_)) {
        HaloSource& source = links.emplace_back();
        source.patch = &particles(link.patch);
        for (std::size_t a = 0; a < 3; ++a) source.shift[a] = link.shift[a] * spacing[a];
    }
    return all.halo_sources.keep(links);
}

HaloRenewal HaloCalls::renewal(TaskId task, ProgramData& all) const {
    const std::vector<ResolvedUse>& uses = in_.task(task).uses;
    const GridShape& shape = in_.grid(family_).shape();
    const Box box = in_.grid(family_).box(patch_);
    Populations& populations = in_.memory.populations();
    const int local = in_.local(family_, patch_);
    HaloRenewal call;
    call.directions = halo_.directions();
    call.distance = halo_.distance();
    for (std::size_t a = 0; a < 3; ++a) {
        call.lo[a] = shape.origin[a] + box.lo[a] * shape.spacing[a];
        call.hi[a] = shape.origin[a] + box.hi[a] * shape.spacing[a];
    }
    call.links = sources(all);
    call.here = &populations.own(halo_.set(), local);
    call.halo = &halo_of(patch_);
    call.members = &in_.memory.halos().members(halo_.id(), local);
    call.by_number = halo_.finds();
    call.position = populations.column(uses[0].storage);
    call.number = populations.column(uses[1].storage);
    call.renewed = populations.column(uses[2].storage);
    call.count = in_.memory.own(uses[3].storage, local).origin;
    call.pool = &populations.pool();
    return call;
}

HaloRead HaloCalls::read(const ResolvedUse& use, ProgramData& all) const {
    Populations& populations = in_.memory.populations();
    HaloRead call;
    call.column = &populations.column(use.storage);
    call.here = &populations.own(halo_.set(), in_.local(family_, patch_));
    call.halo = &halo_of(patch_);
    call.links = sources(all);
    call.element = in_.label(use.label).element;
    call.position = use.label == halo_.position() || use.label == halo_.renewed();
    call.list = &all.halo_lists.one();
    call.pool = &populations.pool();
    return call;
}

HaloSum HaloCalls::sum(const ResolvedUse& use) const {
    const LabelInfo& label = in_.label(use.label);
    HaloSum call;
    call.halo = &halo_of(patch_);
    call.bytes = static_cast<std::int64_t>(label.bytes);
    call.components = label.components;
    call.list = &in_.memory.halos().contributions(in_.members.rank, use.storage, in_.local(family_, patch_));
    call.pool = &in_.memory.populations().pool();
    call.domain = particles(patch_).domain;
    return call;
}

void HaloCalls::add_parts(const Contributor& from, std::vector<HaloCombineCall::Part>& parts) const {
    const StorageId lists = in_.task(from.task).uses[static_cast<std::size_t>(from.use)].storage;
    const auto list = [&](int patch) {
        return &in_.memory.halos().contributions(in_.owner(family_, patch), lists, in_.local(family_, patch));
    };
    if (in_.runs_on(from.task, patch_)) parts.push_back({&halo_of(patch_), list(patch_), -1});
    for (const Piece& piece : halo_.pieces(patch_, On::cells)) {
        if (!in_.runs_on(from.task, piece.from)) continue;
        const std::vector<ParticleHalo::Link> links = halo_.links(piece.from);
        for (std::size_t link = 0; link < links.size(); ++link)
            if (links[link].patch == patch_)
                parts.push_back({&halo_of(piece.from), list(piece.from), static_cast<std::int64_t>(link)});
    }
}

void make_halos_again(const PlanInputs& in, PlanParts& plan) {
    std::vector<bool> known(in.graph.particle_halos().size(), false);
    for (const TaskId task : in.resolved.tasks.ids()) {
        if (!in.is(task, ResolvedTask::What::body) || !in.info(task).renews) continue;
        const ParticleHalo& halo = *in.graph.particle_halos()[in.info(task).renews];
        if (known[static_cast<std::size_t>(halo.id().number())]) continue;
        known[static_cast<std::size_t>(halo.id().number())] = true;
        for (const int patch : in.patches(number_of(in.graph, halo.source())))
            plan.halos_again.push_back(HaloCalls(in, halo, patch).renewal(task, plan.of(1)));
    }
}

}  // namespace strata::graph::detail
