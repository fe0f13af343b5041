// The socket through which a run is watched and steered.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/run/steer/requests.hpp"

namespace strata::graph {

/// Listens on `folder`/control/control.sock; only the user may enter `control`. It has no thread: one thread
/// of one process calls poll() between steps. The socket goes with this object; one that a killed run left is
/// replaced.
class Control {
  public:
    /// Throws Error where another run listens in this folder, or no socket can be made there (some network
    /// file systems have none).
    explicit Control(const std::filesystem::path& folder);
    ~Control();
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;

    /// Removes what a run that was killed has left of `folder`/control; nothing where a run listens there.
    static void sweep(const std::filesystem::path& folder) noexcept;

    /// Answers what has come. Never waits: a client that does not read its answers is dropped, and so is one
    /// that sends a line without end. Asks the system twenty times a second at most (`now`: seconds of any
    /// even clock), so that it may be called after every step.
    void poll(const SteeredRun& run, double now);

  private:
    struct Client {
        int file = -1;
        std::string in, out;
        bool over = false;
    };
    int take_lock(int place);
    void accept_clients();
    void read(Client& client, const SteeredRun& run);
    static void write(Client& client);

    static constexpr std::size_t kClients = 16;
    static constexpr std::size_t kLine = 1 << 16, kUnread = 1 << 22;  // bytes

    std::filesystem::path folder_;
    int lock_ = -1, listener_ = -1;
    std::vector<Client> clients_;
    double asked_ = 0;
    bool asked_once_ = false;
};

}  // namespace strata::graph
