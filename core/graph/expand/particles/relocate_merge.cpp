// Relocation where tasks have said who is no longer in its cell: few particles are taken out of their places
// and few put in, and what lies between is moved along in place.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/graph/expand/particles/relocate.hpp"

namespace strata::graph {

namespace {

/// Neighbours that keep together, and where they go.
struct Segment {
    std::int64_t from, to, count;
};

/// Of each thread, for as long as it lives.
struct Room {
    std::vector<Arrival> arrivals;
    std::vector<Segment> segments;
    std::vector<std::byte> values;
};

class Merge {
  public:
    Merge(const ArriveCall& call, Room& room)
        : call_(call),
          of_(*call.of),
          own_(*call.own),
          here_(*own_.here),
          arrivals_(room.arrivals),
          segments_(room.segments),
          values_(room.values) {
        const ParticleColumn& position = of_.position;
        for (int c = 0; c < of_.cells.directions; ++c)
            x_[c] = position.at(here_.now) + c * position.stride(here_.now);
        id_ = reinterpret_cast<const std::int64_t*>(of_.id.at(here_.now));
    }

    /// `arrivals_` has those of other patches.
    void go() {
        for (const LeaveCall::Mover& each : own_.movers)
            arrivals_.push_back({&here_.now, id_[each.at], each.at, each.key, 0});
        std::sort(arrivals_.begin(), arrivals_.end(), [](const Arrival& a, const Arrival& b) {
            return a.key != b.key ? a.key < b.key : a.id < b.id;
        });
        stay_ = here_.count - static_cast<std::int64_t>(own_.out.size());
        const std::int64_t count = stay_ + static_cast<std::int64_t>(arrivals_.size());
        if (count > INT32_MAX) throw call_.too_many(count);
        find_places();
        find_segments();
        const bool in_place = count <= here_.now.capacity;
        const ParticleArrays larger = in_place ? here_.now : of_.all->another(of_.set->id, here_, count);
        for (const ParticleColumn& column : of_.moved)
            for (int c = 0; c < column.components; ++c)
                in_place ? move_in_place(column, c) : move_to(larger, column, c);
        if (in_place)
            of_.all->keep(of_.set->id, here_, count);
        else
            of_.all->replace(of_.set->id, here_, larger, count);
    }

  private:
    /// Where the n-th of those that stay in their places lies.
    [[nodiscard]] std::int64_t place_of(std::int64_t n) const {
        // So many that are taken out lie before it: out[m] - m never falls.
        std::size_t low = 0, high = own_.out.size();
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (own_.out[middle] - static_cast<std::int64_t>(middle) <= n)
                low = middle + 1;
            else
                high = middle;
        }
        return n + static_cast<std::int64_t>(low);
    }
    [[nodiscard]] std::uint32_t key_of(std::int64_t at) const {
        std::int64_t key = 0;
        for (int c = of_.cells.directions - 1; c >= 0; --c) {
            const double x = of_.position.bytes == sizeof(double)
                                 ? reinterpret_cast<const double*>(x_[c])[at]
                                 : static_cast<double>(reinterpret_cast<const float*>(x_[c])[at]);
            const auto a = static_cast<std::size_t>(c);
            key = key * own_.box.extent(c) + static_cast<std::int64_t>(of_.cells.of(a, x)) - own_.box.lo[a];
        }
        return static_cast<std::uint32_t>(key);
    }
    /// The place of each that comes, in order of cell and number.
    void find_places() {
        std::int64_t low = 0;
        for (std::size_t i = 0; i < arrivals_.size(); ++i) {
            Arrival& one = arrivals_[i];
            std::int64_t high = stay_;
            while (low < high) {
                const std::int64_t middle = (low + high) / 2, at = place_of(middle);
                const std::uint32_t key = key_of(at);
                if (key < one.key || (key == one.key && id_[at] < one.id))
                    low = middle + 1;
                else
                    high = middle;
            }
            one.to = static_cast<std::uint32_t>(low + static_cast<std::int64_t>(i));
            bool twice = i > 0 && arrivals_[i - 1].id == one.id && arrivals_[i - 1].key == one.key;
            if (low < stay_) {
                const std::int64_t next = place_of(low);
                twice = twice || (id_[next] == one.id && key_of(next) == one.key);
            }
            if (twice) throw call_.twice(one.id);
        }
    }
    void find_segments() {
        segments_.clear();
        std::size_t taken = 0, put = 0;
        std::int64_t from = 0, to = 0;
        while (from < here_.count || put < arrivals_.size()) {
            const std::int64_t out = taken < own_.out.size() ? std::int64_t{own_.out[taken]} : here_.count;
            const std::int64_t in = put < arrivals_.size() ? std::int64_t{arrivals_[put].to} : INT64_MAX;
            if (to == in) {
                ++put, ++to;
            } else if (from == out) {
                ++taken, ++from;
            } else {
                const std::int64_t count = std::min(out - from, in - to);
                segments_.push_back({from, to, count});
                from += count, to += count;
            }
        }
    }

    /// Segments keep their order, so those that go down never reach what one that goes up still has to leave,
    /// nor the other way round.
    void move_in_place(const ParticleColumn& column, int c) {
        std::byte* values = column.at(here_.now) + c * column.stride(here_.now);
        const std::int64_t bytes = column.bytes;
        const auto each = static_cast<std::size_t>(bytes);
        values_.resize(arrivals_.size() * each);
        for (std::size_t i = 0; i < arrivals_.size(); ++i)
            std::memcpy(values_.data() + i * each, value_of(arrivals_[i], column, c), each);
        const auto move = [&](const Segment& of) {
            std::memmove(values + of.to * bytes, values + of.from * bytes,
                         static_cast<std::size_t>(of.count * bytes));
        };
        for (const Segment& of : segments_)
            if (of.to < of.from) move(of);
        for (auto of = segments_.rbegin(); of != segments_.rend(); ++of)
            if (of->to > of->from) move(*of);
        for (std::size_t i = 0; i < arrivals_.size(); ++i)
            std::memcpy(values + arrivals_[i].to * bytes, values_.data() + i * each, each);
    }
    void move_to(const ParticleArrays& larger, const ParticleColumn& column, int c) const {
        const std::byte* from = column.at(here_.now) + c * column.stride(here_.now);
        std::byte* to = column.at(larger) + c * column.stride(larger);
        for (const Segment& of : segments_)
            std::memcpy(to + of.to * column.bytes, from + of.from * column.bytes,
                        static_cast<std::size_t>(of.count * column.bytes));
        for (const Arrival& each : arrivals_)
            std::memcpy(to + each.to * column.bytes, value_of(each, column, c),
                        static_cast<std::size_t>(column.bytes));
    }
    [[nodiscard]] static const std::byte* value_of(const Arrival& one, const ParticleColumn& column, int c) {
        return column.at(*one.from) + c * column.stride(*one.from) + one.at * column.bytes;
    }

    const ArriveCall& call_;
    const SetRelocation& of_;
    const LeaveCall& own_;
    ParticlePatch& here_;
    std::vector<Arrival>& arrivals_;
    std::vector<Segment>& segments_;
    std::vector<std::byte>& values_;
    const std::byte* x_[3] = {};
    const std::int64_t* id_ = nullptr;
    std::int64_t stay_ = 0;
};

}  // namespace

void ArriveCall::merge(std::uint32_t buffer) const {
    static thread_local Room room;
    room.arrivals.clear();
    collect(buffer, room.arrivals);
    if (!own->out.empty() || !room.arrivals.empty()) Merge(*this, room).go();
}

}  // namespace strata::graph
