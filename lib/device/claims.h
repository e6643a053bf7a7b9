// Finds out that two processes of a job would use the same device. Without this check, they would
// share its memory and its time without knowing it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/fd.h"

namespace rota::device {

// Says where the ranks of this job on this machine tell each other which devices they use: each
// process locks bytes of `file`, which all of them have. `rank` is this process's first rank. Then
// claims the devices that this process uses already. Throws what claim() throws.
void join_claims(os::Fd file, std::size_t rank);

// Claims a device for this process, unless the process shares devices (ROTA_SHARE_DEVICES=1, which
// rotarun --share-devices sets) or has not joined a job. `id` distinguishes the device from all
// others on the machine. Throws Error kInvalidArgument if another process of the job has claimed
// it: then the device is not claimed here.
void claim(std::uint8_t device, std::string_view name, std::string_view id);

// Gives up the latest claim, if the device turns out not to work.
void give_up_claim() noexcept;

}  // namespace rota::device
