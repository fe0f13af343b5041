// Contributions of patches to shared values of a field, added up where they lie: each value is written once.
// One of the sources may be the target itself (SumInPlace).
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/expand/calls/calls.hpp"

namespace strata::graph {

namespace {

/// Rows, above which they are no longer in the nearest caches when they are added up.
constexpr std::size_t kMany = 64;

/// target[i] = 0 + row[0][i] + row[1][i] + ... A loop's end that the processor does not foresee takes longer
/// than a short row: so each length has its own way through.
template <class T, std::size_t Sources>
void add_row(T* target, const T* const (&row)[Sources], std::uint32_t length) {
    const auto add = [&](std::uint32_t i) {
        T sum{};
        for (std::size_t s = 0; s < Sources; ++s) sum += row[s][i];
        target[i] = sum;
    };
    switch (length) {
        case 8:
            add(7);
            [[fallthrough]];
        case 7:
            add(6);
            [[fallthrough]];
        case 6:
            add(5);
            [[fallthrough]];
        case 5:
            add(4);
            [[fallthrough]];
        case 4:
            add(3);
            [[fallthrough]];
        case 3:
            add(2);
            [[fallthrough]];
        case 2:
            add(1);
            [[fallthrough]];
        case 1:
            add(0);
            return;
        default:
#pragma GCC ivdep  // the target is one of the rows, or apart from all
            for (std::uint32_t i = 0; i < length; ++i) add(i);
    }
}

/// One region; the compiler knows the number of sources.
template <class T, std::size_t Sources>
void add_few(const SumRows::Region& region, const std::int32_t* offset, T* to, const std::uint32_t* sources,
             std::byte* const* parts) {
    const T* from[Sources];
    for (std::size_t s = 0; s < Sources; ++s) from[s] = reinterpret_cast<const T*>(parts[sources[s]]);
    for (std::uint32_t r = 0; r < region.rows; ++r, offset += 1 + Sources) {
        const T* row[Sources];
        for (std::size_t s = 0; s < Sources; ++s) row[s] = from[s] + offset[1 + s];
        add_row(to + offset[0], row, region.length);
    }
}

/// Any number of sources, none among them.
template <class T>
void add_many(const SumRows::Region& region, const std::int32_t* offset, T* to, const std::uint32_t* sources,
              std::byte* const* parts) {
    for (std::uint32_t r = 0; r < region.rows; ++r, offset += 1 + region.sources)
        for (std::uint32_t i = 0; i < region.length; ++i) {
            T sum{};
            for (std::uint32_t s = 0; s < region.sources; ++s)
                sum += (reinterpret_cast<const T*>(parts[sources[s]]) + offset[1 + s])[i];
            to[offset[0] + static_cast<std::int64_t>(i)] = sum;
        }
}

/// Asks for all rows before they are needed: short ones far apart, which no processor foresees. The empty
/// statement stays: GCC (12 at least) takes a function that does no more than prefetch for one without
/// effect, and leaves its calls out.
template <class T>
void fetch(const SumRows& rows, std::byte* const* parts) {
    const std::int32_t* offset = rows.offsets.data();
    const std::uint32_t* sources = rows.parts.data();
    for (const SumRows::Region& region : rows.regions) {
        for (std::uint32_t s = 0; s < region.sources; ++s) {
            const T* const from = reinterpret_cast<const T*>(parts[sources[s]]);
            const std::int32_t* at = offset + 1 + s;
            for (std::uint32_t r = 0; r < region.rows; ++r, at += 1 + region.sources) {
                __builtin_prefetch(from + *at);
                asm volatile("");
            }
        }
        offset += std::size_t{region.rows} * (1 + region.sources), sources += region.sources;
    }
}

template <class T>
void add_all(const SumRows& rows, std::byte* to, std::byte* const* parts) {
    if (rows.offsets.size() > 3 * kMany) fetch<T>(rows, parts);
    T* const target = reinterpret_cast<T*>(to);
    const std::int32_t* offset = rows.offsets.data();
    const std::uint32_t* sources = rows.parts.data();
    for (const SumRows::Region& region : rows.regions) {
        if (region.sources == 1)
            add_few<T, 1>(region, offset, target, sources, parts);
        else if (region.sources == 2)
            add_few<T, 2>(region, offset, target, sources, parts);
        else if (region.sources == 4)
            add_few<T, 4>(region, offset, target, sources, parts);
        else if (region.sources == 8)
            add_few<T, 8>(region, offset, target, sources, parts);
        else
            add_many<T>(region, offset, target, sources, parts);
        offset += std::size_t{region.rows} * (1 + region.sources), sources += region.sources;
    }
}

}  // namespace

void SumRows::add(const Int3& extent, int components, const BoxOrigin& result,
                  const std::vector<std::pair<std::uint32_t, BoxOrigin>>& from) {
    regions.push_back({static_cast<std::uint32_t>(from.size()), static_cast<std::uint32_t>(extent[0]),
                       static_cast<std::uint32_t>(extent[1] * extent[2] * components)});
    for (const auto& [part, offset] : from) parts.push_back(part);
    for (int c = 0; c < components; ++c)
        for (int k = 0; k < extent[2]; ++k)
            for (int j = 0; j < extent[1]; ++j) {
                const auto put = [&](const BoxOrigin& offset) {
                    const Strides& by = offset.strides;
                    const std::int64_t at = offset.at + c * by.component + k * by.plane + j * by.row;
                    if (at != static_cast<std::int32_t>(at))
                        throw Error("a patch is too large for sums of contributions")
                            .given(fmt::format("{} values from its first to another", at))
                            .allowed("below 2^31")
                            .remedy("divide the grid into smaller patches (grid.patch of a case)");
                    offsets.push_back(static_cast<std::int32_t>(at));
                };
                put(result);
                for (const auto& [part, offset] : from) put(offset);
            }
}

CombineCall::Add add_regions(Element element) {
    switch (element) {
        case Element::f64:
            return add_all<double>;
        case Element::f32:
            return add_all<float>;
        // Unsigned: they wrap around where signed ones may do anything, with the same bits elsewhere.
        case Element::i64:
            return add_all<std::uint64_t>;
        case Element::i32:
            return add_all<std::uint32_t>;
        default:
            break;
    }
    throw Error("contributions of this type cannot be added")
        .given(element == Element::u8 ? "values of one byte" : "values of a type of the user's own")
        .allowed("double, float, whole numbers of 4 or 8 bytes");
}

}  // namespace strata::graph
