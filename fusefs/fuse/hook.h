// Hook: how the owner of a mount stops the world at an exact op.
//
// For every state-changing request the server asks
//
//   Consult(kBefore)   nothing has been done
//   Consult(kDuring)   a barrier: nothing has been done; anything else: its effects are issued
//   Consult(kAfter)    done, and not yet answered
//
// and goes on while the answers are true. A request that fails is asked about kBefore only. The
// parts of one write(2) are one op: kBefore comes with the first, kDuring and kAfter with the last.
//
// To crash, the owner answers false. The request is then answered EIO and Refused is called:
//
//   bool Consult(...)  { if (!armed.Fires(...)) return true;
//                        server.Quiesce(true);     // nothing after this op is performed
//                        group.Kill();             // before anything is answered: no program
//                        return false; }           // sees the EIO
//   void Refused()     { server.loop().RunUntil(group is empty);
//                        engine.PowerLoss(...);
//                        server.BeginEpoch();
//                        server.FinishNotifications(); }
//
// Consult must not wait for the killed processes: they cannot go before their requests are
// answered. Refused may pump.
#pragma once

#include <cstdint>
#include <string>

#include "fusefs/core/trigger.h"
#include "fusefs/core/types.h"

namespace tornfs {

class Hook {
 public:
  virtual ~Hook() = default;
  // Whether to go on. `request` is valid during the call.
  [[nodiscard]] virtual bool Consult(When when, const TriggerRequest& request) = 0;
  // The request for which Consult answered false has been answered; no request is held any more.
  virtual void Refused() = 0;
};

}  // namespace tornfs
