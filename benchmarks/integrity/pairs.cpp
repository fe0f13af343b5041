#include "benchmarks/integrity/pairs.hpp"

#include <algorithm>

namespace strata::integrity {
namespace {

/// Between two meetings each worker does its other kernels.
constexpr double kBetweenS = 1;
/// Orders that were left are remembered until as many newer ones have been given: by then all was heard.
constexpr std::uint32_t kOrdersRemembered = 4096;

}  // namespace

Pairs::Pairs(const Settings& settings, Crew& crew) : settings_(settings), crew_(crew) {
    for (const std::uint32_t kernel : settings.kernels)
        if (kernels()[kernel].use == Use::pair && crew.size() > 1) kernels_.push_back(kernel);
    alone_ = kernels_.size() == settings.kernels.size();
}

void Pairs::go_on(double now_s, const std::function<bool(std::uint32_t, int)>& wanted) {
    tidy();
    if (kernels_.empty() || !meetings_.empty() || now_s < next_s_) return;
    const std::uint32_t kernel = kernels_[turn_ % kernels_.size()];
    const std::uint32_t shift = turn_ / static_cast<std::uint32_t>(kernels_.size());
    const std::uint32_t epoch = crew_.shared().epoch[kernel].load();
    // Round robin by the circle method: one worker stays, the others go on by a place each time, and places
    // that lie opposite meet. An odd number has an empty place.
    const int count = crew_.size(), places = count + count % 2;
    const auto at = [&](int place) {
        return place == 0 ? 0 : 1 + (place - 1 + static_cast<int>(shift)) % (places - 1);
    };
    for (int place = 0; place < places / 2; ++place) {
        const int first = at(place), second = at(places - 1 - place);
        if (first >= count || second >= count || (!wanted(kernel, first) && !wanted(kernel, second)))
            continue;
        if (!crew_.is_free(first) || !crew_.is_free(second)) continue;
        meet(first, second, kernel, round_seed(settings_.seed, kernel, epoch, shift % kPool), false);
    }
    ++turn_;
    if (!alone_) next_s_ = now_s + kBetweenS / static_cast<double>(kernels_.size());
}

void Pairs::meet(int first, int second, std::uint32_t kernel, std::uint64_t seed, bool again) {
    const std::uint32_t id = next_id();
    Desk& ground = crew_.desk(first);
    for (Line& line : ground.ground.lines)
        for (auto& word : line.word) word = 0;
    for (Line& line : ground.ground.turn) line.word[0] = 0;
    for (const int side : {0, 1}) {
        Order order;
        order.id = id;
        order.kernel = kernel;
        order.seed = seed;
        order.side = side;
        order.partner = side == 0 ? second : first;
        order.again = again;
        crew_.desk(side == 0 ? first : second).abandon = 0;
        crew_.order(side == 0 ? first : second, order);
    }
    meetings_.push_back({id, first, second});
}

std::uint32_t Pairs::again(int worker, std::uint32_t kernel, std::uint64_t seed) {
    if (crew_.size() < 2 || !crew_.is_free(worker)) return 0;
    for (int step = 1; step < crew_.size(); ++step) {
        const int other = (worker + step) % crew_.size();
        if (!crew_.is_free(other)) continue;
        meet(worker, other, kernel, seed, true);
        return last_id_;
    }
    return 0;
}

void Pairs::leave(int worker) {
    for (Meeting& meeting : meetings_)
        if (meeting.first == worker || meeting.second == worker) {
            crew_.desk(meeting.first).abandon = 1;
            crew_.desk(meeting.second).abandon = 1;
            left_.insert(meeting.order);
        }
    while (!left_.empty() && *left_.begin() + kOrdersRemembered < last_id_) left_.erase(left_.begin());
}

void Pairs::tidy() {
    std::erase_if(meetings_, [&](const Meeting& meeting) {
        // The side of a worker that has ended reports no more.
        const auto open = [&](int worker) {
            const Desk& desk = crew_.desk(worker);
            return crew_.member(worker).pid > 0 && desk.ordered == meeting.order &&
                   desk.served != meeting.order;
        };
        return !open(meeting.first) && !open(meeting.second);
    });
}

}  // namespace strata::integrity
