#include "core/graph/expand/calls/calls.hpp"

#include <cstring>
#include <memory>
#include <new>

namespace strata::graph {

void ValueCopy::copy(const std::byte* source, std::byte* target) const {
    const CopyShape& of = *shape;
    if (of.entries.data() == nullptr) {
        BoxCopy whole = box();
        whole.from = source, whole.to = target;
        copy_box(whole);
        if (of.turn == nullptr) return;
        whole.to += of.vector * whole.to_strides.component;
        turn_vectors(whole, *of.turn);
        return;
    }
    for (int c = 0; c < of.components; ++c, source += of.from_component, target += of.to_component) {
        if (of.bytes == 8)
            for (std::size_t i = 0; i < of.entries.size(); ++i)
                std::memcpy(target + i * 8, source + std::int64_t{of.entries[i]} * 8, 8);
        else
            for (std::size_t i = 0; i < of.entries.size(); ++i)
                std::memcpy(target + i * of.bytes, source + std::int64_t{of.entries[i]} * of.bytes, of.bytes);
    }
}

FillCall& FillCall::make(Stock& store, const std::vector<ValueCopy>& moves) {
    std::byte* const room =
        store.room(sizeof(FillCall) + moves.size() * sizeof(ValueCopy), alignof(FillCall));
    auto* const call = new (room) FillCall{static_cast<std::uint32_t>(moves.size()), {}};
    std::uninitialized_copy(moves.begin(), moves.end(), reinterpret_cast<ValueCopy*>(call + 1));
    return *call;
}

OpWork FillCall::work() const {
    OpWork all;
    for (const ValueCopy& each : moves()) all.bytes += 2.0F * static_cast<float>(each.box().volume());
    return all;
}

Outcome FillCall::go(void* what, Worker& worker) {
    for (const ValueCopy& each : static_cast<const FillCall*>(what)->moves()) each.go(worker);
    return Outcome::done;
}

namespace {

template <class T>
void add_entries(T* to, const T* from, const CombineCall::Entries& part, std::int64_t count) {
    if (part.here.data() == nullptr)
        for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
    else
        for (std::size_t i = 0; i < part.here.size(); ++i) to[part.here[i]] += from[part.there[i]];
}

template <class T>
void combine_lists(const CombineCall& call, std::byte* to, const Worker& worker) {
    for (const auto& part : call.lists) {
        const auto* from = reinterpret_cast<const T*>(part.from.at(worker));
        for (int c = 0; c < call.components; ++c)
            add_entries(reinterpret_cast<T*>(to) + c * call.component, from + c * part.from_component, part,
                        call.count);
    }
}

}  // namespace

Outcome CombineCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const CombineCall*>(what);
    std::byte* to = call.to.at(worker);
    if (call.field) {
        constexpr std::size_t kUsual = 27;  // a patch and those around it
        std::byte* usual[kUsual];
        std::vector<std::byte*> many;
        std::byte** parts = usual;
        if (call.parts.size() > kUsual) {
            many.resize(call.parts.size());
            parts = many.data();
        }
        for (std::size_t p = 0; p < call.parts.size(); ++p) parts[p] = call.parts[p].at(worker);
        call.add(*call.rows, to, parts);
        return Outcome::done;
    }
    for (int c = 0; c < call.components; ++c)
        std::memset(to + c * call.component * call.bytes, 0,
                    static_cast<std::size_t>(call.count * call.bytes));
    switch (call.element) {
        case Element::f64:
            combine_lists<double>(call, to, worker);
            break;
        case Element::f32:
            combine_lists<float>(call, to, worker);
            break;
        case Element::i64:
            combine_lists<std::int64_t>(call, to, worker);
            break;
        default:
            combine_lists<std::int32_t>(call, to, worker);
            break;
    }
    return Outcome::done;
}

bool DecideCall::more(const void* what, Epoch epoch) {
    const auto& call = *static_cast<const DecideCall*>(what);
    const bool more = (*call.test)(call.scalar.at(epoch)) == call.more_if;
    if (!more && call.round_base != nullptr) *call.round_base = epoch;
    return more;
}

Outcome FetchCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const FetchCall*>(what);
    std::memcpy(call.to.at(worker), call.from.at(worker), call.bytes);
    return Outcome::done;
}

}  // namespace strata::graph
