#include "distributed/c10d_ranks.h"

#if __has_include(<gloo/config.h>)
#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO
#endif

#include <memory>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "proca/core/error.h"

namespace proca::distributed {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

// The address of this host on the route to rank 0. Its host name, which Gloo would resolve,
// often stands for 127.0.0.1, where other hosts cannot reach it. Connecting a datagram
// socket finds the route without sending anything.
std::string own_address(const Launch& launch) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int failure =
      ::getaddrinfo(launch.address.c_str(), std::to_string(launch.port).c_str(), &hints, &found);
  if (failure != 0) {
    throw InputError(fmt::format("environment variable MASTER_ADDR: \"{}\": {}", launch.address,
                                 ::gai_strerror(failure)));
  }
  const std::unique_ptr<addrinfo, FreeAddresses> list(found);
  for (const auto* entry = found; entry != nullptr; entry = entry->ai_next) {
    const int descriptor = ::socket(entry->ai_family, entry->ai_socktype, entry->ai_protocol);
    if (descriptor < 0) continue;
    sockaddr_storage own{};
    socklen_t size = sizeof(own);
    char text[NI_MAXHOST] = {};
    const bool known = ::connect(descriptor, entry->ai_addr, entry->ai_addrlen) == 0 &&
                       ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
                       ::getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text, sizeof(text),
                                     nullptr, 0, NI_NUMERICHOST) == 0;
    ::close(descriptor);
    if (known) return text;
  }
  throw Error(fmt::format("rank {} of {}: there is no route to {}", launch.rank, launch.size,
                          launch.address));
}

}  // namespace

c10::intrusive_ptr<C10dGroup> make_gloo_group(const c10::intrusive_ptr<c10d::Store>& store,
                                              const Launch& launch,
                                              std::chrono::milliseconds timeout) {
  const auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");  // PyTorch's name
  options->devices.push_back(
      interface != nullptr ? c10d::ProcessGroupGloo::createDeviceForInterface(interface)
                           : c10d::ProcessGroupGloo::createDeviceForHostname(own_address(launch)));
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, static_cast<int>(launch.rank),
                                                     static_cast<int>(launch.size), options);
}

}  // namespace proca::distributed

#else

namespace proca::distributed {

c10::intrusive_ptr<C10dGroup> make_gloo_group(const c10::intrusive_ptr<c10d::Store>&, const Launch&,
                                              std::chrono::milliseconds) {
  return {};
}

}  // namespace proca::distributed

#endif
