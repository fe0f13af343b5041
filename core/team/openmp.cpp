#include "core/team/openmp.hpp"

#include <dlfcn.h>

#include "core/launch/bind.hpp"

namespace strata::team {
namespace {

template <class Function>
void look_up(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

struct Binding {
    const std::vector<std::vector<int>>& pus;
    int (*own_number)();
};

void bind_one(void* held) {
    const auto& binding = *static_cast<const Binding*>(held);
    const auto number = static_cast<std::size_t>(binding.own_number());
    if (number < binding.pus.size() && !binding.pus[number].empty()) launch::bind_to(binding.pus[number]);
}

}  // namespace

OpenMP::OpenMP() {
    look_up(set_threads_, "omp_set_num_threads");
    look_up(own_number_, "omp_get_thread_num");
    look_up(region_, "GOMP_parallel");
}

void OpenMP::use(const std::vector<std::vector<int>>& pus) const {
    set_threads_(static_cast<int>(pus.size()));
    if (own_number_ == nullptr || region_ == nullptr) return;
    Binding binding{pus, own_number_};
    region_(bind_one, &binding, static_cast<unsigned>(pus.size()), 0);
}

}  // namespace strata::team
