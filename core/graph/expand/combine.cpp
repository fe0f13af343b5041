// Contributions of patches to shared values of a field, added up where they lie: each value is written once.
// One of the sources may be the target itself (SumInPlace).
#include <array>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/expand/calls.hpp"

namespace strata::graph {

namespace {

/// Values of a patch, above which its contributions are no longer in the nearest caches when they are added
/// up.
constexpr std::int64_t kMany = 64;

template <class T>
const T* at(const std::byte* from, std::int64_t bytes) {
    return reinterpret_cast<const T*>(from + bytes);
}

/// One value of each component: what small patches have at their corners, and the smallest nothing else.
template <class T, std::size_t Sources>
void add_value(const CombineCall& call, std::byte* to, const CombineCall::Source* sources,
               std::byte* const* parts) {
    const std::byte* from[Sources];
    std::int64_t by[Sources];
    for (std::size_t s = 0; s < Sources; ++s) {
        from[s] = parts[sources[s].part] + sources[s].at;
        by[s] = call.parts[sources[s].part].strides.component;
    }
    for (int c = 0; c < call.components; ++c) {
        T sum{};
        for (std::size_t s = 0; s < Sources; ++s) sum += *at<T>(from[s], c * by[s]);
        *reinterpret_cast<T*>(to + c * call.to_strides.component) = sum;
    }
}

/// One region with so many sources that the compiler knows how many.
template <class T, std::size_t Sources>
void add_few(const CombineCall& call, const CombineCall::Region& region, std::byte* to,
             const CombineCall::Source* sources, std::byte* const* parts) {
    if (region.extent == Int3{1, 1, 1}) return add_value<T, Sources>(call, to, sources, parts);
    const std::byte* from[Sources];
    Strides by[Sources];
    for (std::size_t s = 0; s < Sources; ++s) {
        from[s] = parts[sources[s].part] + sources[s].at;
        by[s] = call.parts[sources[s].part].strides;
    }
    const Strides& into = call.to_strides;
    const auto [nx, ny, nz] = region.extent;
    if (nx == 1) {  // the sides of a patch across x: one value in each row
        for (int c = 0; c < call.components; ++c)
            for (int k = 0; k < nz; ++k) {
                std::byte* target = to + c * into.component + k * into.plane;
                const std::byte* first[Sources];
                for (std::size_t s = 0; s < Sources; ++s)
                    first[s] = from[s] + c * by[s].component + k * by[s].plane;
                for (int j = 0; j < ny; ++j) {
                    T sum{};
                    for (std::size_t s = 0; s < Sources; ++s) sum += *at<T>(first[s], j * by[s].row);
                    *reinterpret_cast<T*>(target + j * into.row) = sum;
                }
            }
        return;
    }
    for (int c = 0; c < call.components; ++c)
        for (int k = 0; k < nz; ++k)
            for (int j = 0; j < ny; ++j) {
                T* target = reinterpret_cast<T*>(to + c * into.component + k * into.plane + j * into.row);
                const T* row[Sources];
                for (std::size_t s = 0; s < Sources; ++s)
                    row[s] = at<T>(from[s], c * by[s].component + k * by[s].plane + j * by[s].row);
#pragma GCC ivdep  // the target is one of the rows, or apart from all
                for (int i = 0; i < nx; ++i) {
                    T sum{};
                    for (std::size_t s = 0; s < Sources; ++s) sum += row[s][i];
                    target[i] = sum;
                }
            }
}

/// Any number of sources, none among them.
template <class T>
void add_many(const CombineCall& call, const CombineCall::Region& region, std::byte* to,
              const CombineCall::Source* sources, std::byte* const* parts) {
    const Strides& into = call.to_strides;
    const auto [nx, ny, nz] = region.extent;
    for (int c = 0; c < call.components; ++c)
        for (int k = 0; k < nz; ++k)
            for (int j = 0; j < ny; ++j) {
                T* target = reinterpret_cast<T*>(to + c * into.component + k * into.plane + j * into.row);
                for (int i = 0; i < nx; ++i) {
                    T sum{};
                    for (std::uint32_t s = 0; s < region.sources; ++s) {
                        const Strides& by = call.parts[sources[s].part].strides;
                        sum += at<T>(parts[sources[s].part] + sources[s].at,
                                     c * by.component + k * by.plane + j * by.row)[i];
                    }
                    target[i] = sum;
                }
            }
}

/// Asks for the rows of a region and of its sources before they are needed: short rows far apart, which no
/// processor foresees.
void fetch(const CombineCall& call, const CombineCall::Region& region, std::byte* to,
           const CombineCall::Source* sources, std::byte* const* parts) {
    const auto rows = [&](std::byte* first, const Strides& by, auto one) {
        for (int c = 0; c < call.components; ++c)
            for (int k = 0; k < region.extent[2]; ++k)
                for (int j = 0; j < region.extent[1]; ++j)
                    one(first + c * by.component + k * by.plane + j * by.row);
    };
    rows(to, call.to_strides, [](std::byte* row) { __builtin_prefetch(row, 1); });
    for (std::uint32_t s = 0; s < region.sources; ++s)
        rows(parts[sources[s].part] + sources[s].at, call.parts[sources[s].part].strides,
             [](std::byte* row) { __builtin_prefetch(row, 0); });
}

template <class T>
void add_all(const CombineCall& call, std::byte* to, std::byte* const* parts) {
    const CombineCall::Source* sources = call.sources.data();
    if (call.values > kMany)
        for (const CombineCall::Region& region : call.regions) {
            fetch(call, region, to + region.at, sources, parts);
            sources += region.sources;
        }
    sources = call.sources.data();
    for (const CombineCall::Region& region : call.regions) {
        std::byte* target = to + region.at;
        if (region.sources == 1)
            add_few<T, 1>(call, region, target, sources, parts);
        else if (region.sources == 2)
            add_few<T, 2>(call, region, target, sources, parts);
        else if (region.sources == 4)
            add_few<T, 4>(call, region, target, sources, parts);
        else if (region.sources == 8)
            add_few<T, 8>(call, region, target, sources, parts);
        else
            add_many<T>(call, region, target, sources, parts);
        sources += region.sources;
    }
}

}  // namespace

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
