// Reductions of contributions to one value: the same bits whatever the order and the division.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/graph/expand/calls/calls.hpp"
#include "core/team/exact_sum.hpp"

namespace strata::graph {

namespace {

using team::ExactSum;

/// Whole numbers add up to the same in any order as they are.
bool sums_exactly(const LabelInfo& label) {
    return label.reduce == Reduce::sum && (label.element == Element::f64 || label.element == Element::f32);
}

/// Calls f with a value of the label's type.
template <class F>
void with_type(Element element, F f) {
    switch (element) {
        case Element::f64:
            f(double{});
            break;
        case Element::f32:
            f(float{});
            break;
        case Element::i64:
            f(std::int64_t{});
            break;
        case Element::i32:
            f(std::int32_t{});
            break;
        default:
            f(std::uint8_t{});
            break;
    }
}

template <class T>
T neutral(Reduce reduce) {
    using Limits = std::numeric_limits<T>;
    if (reduce == Reduce::min) return Limits::has_infinity ? Limits::infinity() : Limits::max();
    if (reduce == Reduce::max) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    return reduce == Reduce::all ? T{1} : T{0};
}

/// NaN wins, so that it is not lost in a minimum.
template <class T>
T combined(Reduce reduce, T a, T b) {
    if (a != a || b != b) return a != a ? a : b;
    switch (reduce) {
        case Reduce::min:
            return std::min(a, b);
        case Reduce::max:
            return std::max(a, b);
        case Reduce::all:
            return static_cast<T>(a != T{0} && b != T{0});
        case Reduce::any:
            return static_cast<T>(a != T{0} || b != T{0});
        default:
            if constexpr (std::is_integral_v<T>) {  // as unsigned: integers wrap around
                using U = std::make_unsigned_t<T>;
                return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
            } else {
                return a + b;
            }
    }
}

/// How many components are there: of a label that counts its numbers, component 0 says it.
template <class T>
int components_in(const LabelInfo& label, const std::byte* values) {
    T count{};
    std::memcpy(&count, values, sizeof count);
    return label.counted ? 1 + static_cast<int>(count) : label.components;
}

template <class T>
void combine(const LabelInfo& label, std::byte* into, const std::byte* from) {
    auto* a = reinterpret_cast<T*>(into);
    const auto* b = reinterpret_cast<const T*>(from);
    const int components = components_in<T>(label, from);
    if (label.counted) a[0] = std::max(a[0], b[0]);
    for (int c = label.counted; c < components; ++c) a[c] = combined(label.reduce, a[c], b[c]);
}

template <class Each>
void each_contribution(const ReduceCall& call, Each each) {
    for (const Contributions& from : call.contributions)
        for (std::uint32_t i = 0; i < from.count; ++i) each(from.at(i));
}

/// The numbers of one process, or of all. A partial result has its count where component 0 would be.
template <class T>
void reduce_exactly(const ReduceCall& call, std::byte* result) {
    const LabelInfo& label = *call.label;
    int components = label.counted ? 1 : label.components;
    each_contribution(call, [&](const std::byte* each) {
        components = std::max(components, components_in<T>(label, each));
    });
    for (const std::byte* each : call.children)
        components = std::max(components, components_in<T>(label, each));
    if (call.finishes) write_neutral(label, result);
    if (label.counted) {
        const T count = static_cast<T>(components - 1);
        std::memcpy(result, &count, sizeof count);
    }
    for (int c = label.counted; c < components; ++c) {
        ExactSum sum;
        each_contribution(call, [&](const std::byte* each) {
            if (c < components_in<T>(label, each)) sum.add(reinterpret_cast<const T*>(each)[c]);
        });
        for (const std::byte* each : call.children)
            if (c < components_in<T>(label, each)) sum.add(reinterpret_cast<const ExactSum*>(each)[c]);
        if (call.finishes)
            reinterpret_cast<T*>(result)[c] = static_cast<T>(sum.value());
        else
            reinterpret_cast<ExactSum*>(result)[c] = sum;
    }
}

}  // namespace

std::size_t partial_bytes(const LabelInfo& label) {
    return static_cast<std::size_t>(label.components) *
           (sums_exactly(label) ? sizeof(ExactSum) : label.bytes);
}

void write_neutral(const LabelInfo& label, std::byte* to) {
    with_type(label.element, [&](auto zero) {
        using T = decltype(zero);
        for (int c = 0; c < label.components; ++c) reinterpret_cast<T*>(to)[c] = neutral<T>(label.reduce);
        if (label.counted) *reinterpret_cast<T*>(to) = 0;
    });
}

void write_first(const LabelInfo& label, std::byte* to) {
    with_type(label.element, [&](auto zero) {
        using T = decltype(zero);
        for (int c = 0; c < label.components; ++c) reinterpret_cast<T*>(to)[c] = static_cast<T>(label.first);
    });
}

Outcome ReduceCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const ReduceCall*>(what);
    std::byte* result = call.finishes ? call.result.at(worker) : call.mine;
    if (sums_exactly(*call.label)) {
        if (call.label->element == Element::f64)
            reduce_exactly<double>(call, result);
        else
            reduce_exactly<float>(call, result);
        return Outcome::done;
    }
    write_neutral(*call.label, result);
    with_type(call.label->element, [&](auto zero) {
        using T = decltype(zero);
        each_contribution(call, [&](const std::byte* each) { combine<T>(*call.label, result, each); });
        for (const std::byte* each : call.children) combine<T>(*call.label, result, each);
    });
    return Outcome::done;
}

}  // namespace strata::graph
