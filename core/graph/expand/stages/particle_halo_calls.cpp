// The data of operations on halos of particles.
#include <algorithm>
#include <limits>

#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph::detail {

HaloCalls::HaloCalls(const PlanInputs& in, const ParticleHalo& halo, int patch)
    : in_(in), halo_(halo), patch_(patch), family_(number_of(in.graph, halo.source())) {}

bool HaloCalls::is_on_node(int patch) const { return in_.is_on_node(family_, patch); }

const ParticlePatch& HaloCalls::particles(int patch) const {
    if (!is_on_node(patch)) return in_.memory.halos().image(halo_.set(), patch);
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
    return all.store.keep(links);
}

HaloTarget HaloCalls::target(int patch, const Int3& shift) const {
    const GridShape& shape = in_.grid(family_).shape();
    const Box box = in_.grid(family_).box(patch);
    HaloTarget to;
    for (std::size_t a = 0; a < 3; ++a) {
        to.lo[a] = shape.origin[a] + box.lo[a] * shape.spacing[a];
        to.hi[a] = shape.origin[a] + box.hi[a] * shape.spacing[a];
        to.shift[a] = shift[a] * shape.spacing[a];
        if (in_.graph.particle_sets()[halo_.set()].beyond == Beyond::refused || shape.periodic[a]) continue;
        constexpr double infinite = std::numeric_limits<double>::infinity();
        if (box.lo[a] == shape.cells.lo[a]) to.lo[a] = -infinite;
        if (box.hi[a] == shape.cells.hi[a]) to.hi[a] = infinite;
    }
    return to;
}

/// By patch, then by its links.
std::vector<HaloCalls::Given> HaloCalls::givens() const {
    std::vector<Given> all;
    if (in_.members.messages == nullptr) return all;
    for (const int other : halo_.readers(patch_)) {
        if (is_on_node(other)) continue;
        const std::vector<ParticleHalo::Link>& links = halo_.links(other);
        for (std::size_t link = 0; link < links.size(); ++link)
            if (links[link].patch == patch_) all.push_back({other, link, links[link].shift});
    }
    return all;
}
HaloPatch& HaloCalls::given() const { return in_.memory.halos().given(halo_.id(), patch_, givens().size()); }

HaloRenewal HaloCalls::renewal(TaskId task, ProgramData& all) const {
    const std::vector<ResolvedUse>& uses = in_.task(task).uses;
    Populations& populations = in_.memory.populations();
    const int local = in_.local(family_, patch_);
    const HaloTarget own = target(patch_, {});
    std::vector<HaloTarget> targets;
    for (const Given& each : givens()) targets.push_back(target(each.patch, each.shift));
    HaloRenewal call;
    call.directions = halo_.directions();
    call.distance = halo_.distance();
    call.lo = own.lo, call.hi = own.hi;
    call.links = sources(all);
    call.targets = all.store.keep(targets);
    call.here = &populations.own(halo_.set(), local);
    call.halo = &halo_of(patch_);
    call.given = &given();
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
    call.list = &all.store.one<HaloList>();
    call.lists = &in_.memory.halos().lists();
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
    if (in_.runs_on(from.task, patch_)) parts.push_back({list(patch_), {}, nullptr});
    const std::vector<Given> elsewhere = givens();
    const HaloPatch& given_here = given();
    for (const int other : halo_.readers(patch_)) {
        if (!in_.runs_on(from.task, other)) continue;
        const std::vector<ParticleHalo::Link>& links = halo_.links(other);
        for (std::size_t link = 0, back = 0; link < links.size(); ++link) {
            const bool mine = in_.is_mine(family_, links[link].patch);
            if (links[link].patch == patch_ && is_on_node(other)) {
                parts.push_back({list(other), {&halo_of(other), link}, nullptr});
            } else if (links[link].patch == patch_) {
                ParticleHalos::Back& of = HaloCalls(in_, halo_, other).back_of(lists);
                parts.push_back(
                    {&of.list, {&given_here, number_of_given(elsewhere, other, link)}, &of.begins[back]});
            }
            back += static_cast<std::size_t>(mine);
        }
    }
}

std::size_t HaloCalls::number_of_given(const std::vector<Given>& all, int patch, std::size_t link) {
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const Given& each) { return each.patch == patch && each.link == link; });
    return static_cast<std::size_t>(at - all.begin());
}

/// The links of a patch of another node to patches here, in their order: what comes back to each.
std::vector<HaloPlaces> HaloCalls::places_of_back() const {
    std::vector<HaloPlaces> all;
    const std::vector<ParticleHalo::Link>& links = halo_.links(patch_);
    for (std::size_t link = 0; link < links.size(); ++link) {
        if (!in_.is_mine(family_, links[link].patch)) continue;
        const HaloCalls source(in_, halo_, links[link].patch);
        all.push_back({&source.given(), number_of_given(source.givens(), patch_, link)});
    }
    return all;
}

ParticleHalos::Back& HaloCalls::back_of(StorageId lists) const {
    ParticleHalos::Back& of = in_.memory.halos().back(lists, patch_);
    const std::vector<ParticleHalo::Link>& links = halo_.links(patch_);
    of.begins.resize(static_cast<std::size_t>(
        std::count_if(links.begin(), links.end(),
                      [&](const ParticleHalo::Link& link) { return in_.is_mine(family_, link.patch); })));
    return of;
}

ParticleParcel HaloCalls::all_of(StorageId storage, bool outgoing) const {
    ParticleParcel parcel;
    parcel.populations = &in_.memory.populations();
    parcel.column = parcel.populations->column(storage);
    parcel.patch = outgoing ? &parcel.populations->own(halo_.set(), in_.local(family_, patch_))
                            : &in_.memory.halos().image(halo_.set(), patch_);
    return parcel;
}

void HaloCalls::add_places(int process, bool outgoing, std::vector<HaloPlaces>& places) const {
    if (outgoing) {
        const std::vector<Given> all = givens();
        const HaloPatch& given_here = given();
        for (std::size_t i = 0; i < all.size(); ++i)
            if (in_.owner(family_, all[i].patch) == process) places.push_back({&given_here, i});
        return;
    }
    for (const int other : halo_.readers(patch_)) {
        if (!in_.is_mine(family_, other)) continue;
        const std::vector<ParticleHalo::Link>& links = halo_.links(other);
        for (std::size_t link = 0; link < links.size(); ++link)
            if (links[link].patch == patch_) places.push_back({&halo_of(other), link});
    }
}

ParticleParcel HaloCalls::back(StorageId lists, int process, bool outgoing, ProgramData& all) const {
    const LabelInfo& label = in_.label_of(lists);
    ParticleParcel parcel;
    parcel.what = ParticleParcel::What::back;
    parcel.populations = &in_.memory.populations();
    parcel.column.bytes = static_cast<std::int64_t>(label.bytes);
    parcel.column.components = label.components;
    std::vector<HaloPlaces> places;
    if (outgoing) {
        const std::vector<ParticleHalo::Link>& links = halo_.links(patch_);
        for (std::size_t link = 0; link < links.size(); ++link)
            if (in_.owner(family_, links[link].patch) == process) places.push_back({&halo_of(patch_), link});
        parcel.list = &in_.memory.halos().contributions(in_.members.rank, lists, in_.local(family_, patch_));
    } else {
        places = places_of_back();
        ParticleHalos::Back& of = back_of(lists);
        parcel.list = &of.list, parcel.begins = of.begins.data();
    }
    parcel.places = all.store.keep(places);
    return parcel;
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
