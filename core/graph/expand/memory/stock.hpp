// Memory for very many small things that are made one after the other and never move.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace strata::graph {

/// A cache line of private memory.
struct alignas(64) Line {
    std::byte bytes[64];
};

/// Things of all types, one behind the other.
class Stock {
  public:
    Stock();
    Stock(Stock&&) noexcept;
    Stock& operator=(Stock&& other) noexcept;
    ~Stock();

    /// So many, next to each other, as T{}.
    template <class T>
    std::span<T> take(std::size_t count) {
        if (count == 0) return {};
        T* const first = reinterpret_cast<T*>(room(count * sizeof(T), alignof(T)));
        std::uninitialized_value_construct_n(first, count);
        if constexpr (!std::is_trivially_destructible_v<T>)
            note({[](void* at, std::size_t of) { std::destroy_n(static_cast<T*>(at), of); }, first, count});
        return {first, count};
    }
    template <class T>
    T& one() {
        return take<T>(1)[0];
    }
    template <class T>
    std::span<T> keep(const std::vector<T>& all) {
        const std::span<T> taken = take<T>(all.size());
        std::copy(all.begin(), all.end(), taken.begin());
        return taken;
    }
    /// So many of these bytes each come next: they get a place of the size that they need.
    void expect(std::size_t count, std::size_t bytes, std::size_t alignment);
    /// Memory for anything that needs no destructor.
    std::byte* room(std::size_t bytes, std::size_t alignment) {
        for (Left& each : open_)
            if (std::byte* const taken = each.take(bytes, alignment); taken != nullptr) return taken;
        return room_in_another(bytes, alignment);
    }

  private:
    static constexpr std::size_t kLeast = 240, kMost = std::size_t{1} << 18;
    /// The free end of a chunk.
    struct Left {
        std::byte* next = nullptr;
        std::size_t bytes = 0;

        /// Null: there is not enough.
        std::byte* take(std::size_t wanted, std::size_t alignment) {
            const std::size_t gap = -reinterpret_cast<std::uintptr_t>(next) & (alignment - 1);
            if (bytes < wanted + gap) return nullptr;
            std::byte* const taken = next + gap;
            next = taken + wanted, bytes -= wanted + gap;
            return taken;
        }
    };
    struct Ending {
        void (*end)(void* at, std::size_t count);
        void* at;
        std::size_t count;
    };
    /// Chunks begin at multiples of that.
    static constexpr std::size_t spare(std::size_t alignment) {
        return alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__ ? 0 : alignment;
    }
    std::byte* room_in_another(std::size_t bytes, std::size_t alignment);
    /// In place of the fullest of the chunks that are open.
    Left& begin(std::size_t bytes);
    void note(const Ending& ending);
    void end_all();
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    std::vector<Ending> endings_;
    std::array<Left, 4> open_;
    std::size_t made_ = 0;
};

}  // namespace strata::graph
