#include "base/version.h"

namespace evener {

const std::string_view kVersion = EVENER_VERSION;
const std::string_view kCommit = EVENER_COMMIT;

}  // namespace evener
