// The calls of messages: values that are packed and unpacked, round after round. And the kept values that
// processes exchange between steps.
#include <algorithm>

#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph::detail {

namespace {

/// So many bytes next to each other.
Parcel plain(const RoundAddress& values, std::size_t bytes) {
    Parcel parcel;
    parcel.values = values;
    parcel.box.extent = {static_cast<int>(bytes), 1, 1};
    parcel.box.bytes = 1;
    return parcel;
}

constexpr int kBetweenSteps = -1;  // in place of a phase: all buffers, one after the other

class MessageCalls {
  public:
    MessageCalls(const PlanInputs& in, const Numbered& numbered, const Needs& needs, const Streams& streams,
                 const SharedFlags& shared, const ReceivedParts& received, PlanParts& plan)
        : in_(in),
          numbered_(numbered),
          needs_(needs),
          streams_(streams),
          shared_(shared),
          received_(received),
          plan_(plan) {}

    void all() {
        for (const Stream& stream : streams_.outgoing)
            if (stream.what != Stream::What::gate) send(stream);  // those: requests_calls.cpp
        for (const Stream& stream : streams_.incoming)
            if (stream.what != Stream::What::leavers && stream.what != Stream::What::gate)
                receive(stream);  // those: relocation_calls.cpp
        // Kept values are exchanged as they are before the first step, whichever task made them.
        for (std::size_t process = 0; process < needs_.asked.size(); ++process) {
            Exchanged& all = plan_.exchanged.emplace_back();
            const auto exchange = [&](const NeedKey& key, const Need& need, bool given) {
                if (!is_kept(key)) return;
                if (is_particles(key))
                    (given ? all.particles_given : all.particles_taken).push_back(all_particles(key, given));
                else
                    add(kBetweenSteps, key, need, array(key, given), given ? all.given : all.taken);
            };
            for (const auto& [key, need] : needs_.asked[process]) exchange(key, need, true);
            for (const auto& [key, need] : needs_.here[process]) exchange(key, need, false);
        }
    }

  private:
    [[nodiscard]] bool is_kept(const NeedKey& key) const {
        return key.storage && in_.storage(key.storage).kept;
    }
    [[nodiscard]] bool is_particles(const NeedKey& key) const {
        return key.storage && in_.label_of(key.storage).kind == Kind::particles;
    }
    [[nodiscard]] const PatchArray& array(const NeedKey& key, bool outgoing) const {
        return outgoing ? in_.own(key.storage, key.patch) : needs_.images.at({key.storage, key.patch}).array;
    }

    /// Which version of the storage the maker makes.
    [[nodiscard]] int back_of_maker(const NeedKey& key) const {
        if (!key.maker) return 0;
        const std::vector<ResolvedUse>& uses = in_.task(key.maker).uses;
        for (std::size_t u = 0; u < uses.size(); ++u)
            if (uses[u].storage == key.storage && writes(in_, key.maker, u)) return uses[u].back;
        return 0;
    }

    /// The values of one patch that are asked for: in the buffer that the maker writes.
    void add(int phase, const NeedKey& key, const Need& need, const PatchArray& array,
             std::vector<Parcel>& parcels) {
        const LabelInfo& of = in_.label_of(key.storage);
        const auto values_at = [&](const Int3& first) {
            const Storage& in = in_.storage(key.storage);
            std::byte* const base = array.origin + distance(array, first, of.bytes);
            if (phase == kBetweenSteps)
                return RoundAddress{base, array.buffer_stride, static_cast<std::uint32_t>(in.depth), 0, 0};
            return numbered_.address(phase, in, base, array.buffer_stride, back_of_maker(key));
        };
        for (const Box& box : need.boxes) {
            Parcel& parcel = parcels.emplace_back();
            parcel.values = values_at(box.lo);
            parcel.box = shape_of(box, of, array, strides(array, of.bytes));
        }
        if (need.entries.empty()) return;
        const auto [first, entries] = entries_in(of, key.patch, array, need.entries);
        Parcel& parcel = parcels.emplace_back();
        parcel.values = values_at(first);
        parcel.box.components = of.components;
        parcel.box.bytes = static_cast<std::uint32_t>(of.bytes);
        parcel.entries = plan_.of(std::max(phase, 0)).store.keep(entries);
        parcel.component = array.component * static_cast<std::int64_t>(of.bytes);
        parcel.list = true;
    }

    [[nodiscard]] ParticleParcel all_particles(const NeedKey& key, bool outgoing) const {
        const SetId set = in_.label_of(key.storage).particle_set;
        for (const ParticleHalo* halo : in_.graph.particle_halos())
            if (halo->set() == set) return HaloCalls(in_, *halo, key.patch).all_of(key.storage, outgoing);
        return {};
    }

    /// Those of a stream's messages, after the other values.
    [[nodiscard]] std::vector<ParticleParcel> particles_of(const Stream& stream, bool outgoing) {
        std::vector<ParticleParcel> parcels;
        if (stream.what != Stream::What::values) return parcels;
        ProgramData& all = data(stream);
        for (const NeedKey& key : stream.keys) {
            if (!is_particles(key)) continue;
            if (in_.storage(key.storage).contributions) {
                parcels.push_back(contributions(key, stream.process, outgoing));
                continue;
            }
            ParticleParcel parcel = all_particles(key, outgoing);
            if (sends_halos_alone(in_, numbered_, stream.maker)) {
                parcel.what = ParticleParcel::What::in_halo;
                std::vector<HaloPlaces> places;
                for (const ParticleHalo* halo : in_.graph.particle_halos())
                    if (halo->set() == parcel.column.set)
                        HaloCalls(in_, *halo, key.patch).add_places(stream.process, outgoing, places);
                parcel.places = all.store.keep(places);
            }
            parcels.push_back(parcel);
        }
        return parcels;
    }
    [[nodiscard]] ParticleParcel contributions(const NeedKey& key, int process, bool outgoing) {
        const std::vector<ResolvedUse>& uses = in_.task(key.maker).uses;
        for (std::size_t u = 0; u < uses.size(); ++u)
            if (const Use& use = in_.info(key.maker).uses[u];
                uses[u].storage == key.storage && use.access == Access::sum)
                return HaloCalls(in_, static_cast<const ParticleHalo&>(*use.relation), key.patch)
                    .back(key.storage, process, outgoing, plan_.of(numbered_.tasks[key.maker].phase));
        return {};
    }

    /// The values of a stream's messages, at this end of it.
    [[nodiscard]] std::vector<Parcel> parcels_of(const Stream& stream, bool outgoing) {
        const int phase = numbered_.tasks[stream.maker].phase;
        if (stream.what == Stream::What::values) {
            const NeedsOfProcess& needs =
                (outgoing ? needs_.asked : needs_.here)[static_cast<std::size_t>(stream.process)];
            std::vector<Parcel> parcels;
            for (const NeedKey& key : stream.keys)
                if (!is_particles(key)) add(phase, key, needs.at(key), array(key, outgoing), parcels);
            return parcels;
        }
        const LabelInfo& made = in_.completed(stream.maker);
        if (stream.what == Stream::What::part_of_reduction)
            return {plain({outgoing ? shared_.partial(in_.members.rank, stream.maker)
                                    : received_.at({stream.maker, stream.process})},
                          partial_bytes(made))};
        const StorageId result = in_.task(stream.maker).uses[0].storage;
        const PatchArray& here = in_.memory.own(result, 0);
        return {plain(numbered_.address(phase, in_.storage(result), here.origin, here.buffer_stride, 0),
                      made.bytes * static_cast<std::size_t>(made.components))};
    }

    /// The parcels of a call that packs or unpacks: then the length of messages is known.
    template <class Call>
    void set(std::uint32_t op, Call& call, const Stream& stream, bool outgoing) {
        const std::vector<Parcel> parcels = parcels_of(stream, outgoing);
        call.channel = stream.channel;
        call.parcels = data(stream).store.keep(parcels);
        call.scope = scope(stream);
        call.particles = data(stream).store.keep(particles_of(stream, outgoing));
        if (call.particles.empty()) stream.channel->make_rooms(bytes_of(call.parcels));
        data(stream).set(op, call);
    }
    [[nodiscard]] ProgramData& data(const Stream& stream) const {
        return plan_.of(numbered_.tasks[stream.maker].phase);
    }
    [[nodiscard]] std::uint16_t scope(const Stream& stream) const {
        return numbered_.scopes[in_.task(stream.maker).scope];
    }

    void send(const Stream& stream) {
        ProgramData& all = data(stream);
        if (stream.what != Stream::What::leavers) set(stream.first, all.store.one<PackCall>(), stream, true);
        SendCall& call = all.store.one<SendCall>();
        call.channel = stream.channel;
        call.scope = scope(stream);
        all.set(stream.second, call);
        all.sending.push_back(stream.channel);
    }

    void receive(const Stream& stream) {
        ProgramData& all = data(stream);
        ReceiveCall& call = all.store.one<ReceiveCall>();
        call.channel = stream.channel;
        call.scope = scope(stream);
        all.set(stream.first, call);
        // The start itself has one round; scopes within it may have many.
        if (in_.task(stream.maker).scope == kStart) stream.channel->expect_one();
        all.listening.emplace_back(stream.channel, call.scope);
        set(stream.second, all.store.one<UnpackCall>(), stream, false);
    }

    const PlanInputs& in_;
    const Numbered& numbered_;
    const Needs& needs_;
    const Streams& streams_;
    const SharedFlags& shared_;
    const ReceivedParts& received_;
    PlanParts& plan_;
};

}  // namespace

void make_messages(const PlanInputs& in, const Numbered& numbered, const Needs& needs, const Streams& streams,
                   const SharedFlags& shared, const ReceivedParts& received, PlanParts& plan) {
    MessageCalls(in, numbered, needs, streams, shared, received, plan).all();
}

}  // namespace strata::graph::detail
