package org.symmem.nccl;

import java.util.Map;
import java.util.Optional;

/**
 * What the variables of this process say of windows. NCCL reads them from its configuration files too, which are not looked at.
 *
 * @param environment of the process
 */
record WindowSettings(Map<String, String> environment) {
    static WindowSettings ofThisProcess() {
        return new WindowSettings(System.getenv());
    }

    private boolean isOff(String name) {
        return "0".equals(environment.get(name));
    }

    /** {@return what takes windows away for certain, in every version} */
    Optional<String> off() {
        if (isOff("NCCL_WIN_ENABLE")) {
            return Optional.of("NCCL_WIN_ENABLE is 0");
        }
        return isOff("NCCL_CUMEM_ENABLE") ? Optional.of("NCCL_CUMEM_ENABLE is 0, so ncclMemAlloc gives memory of cudaMalloc")
                : Optional.empty();
    }

    /** {@return what may have taken windows away, once it is known that there are none} */
    Optional<String> suspect(int worldSize) {
        if (isOff("NCCL_LOCAL_REGISTER")) {
            return Optional.of("NCCL_LOCAL_REGISTER is 0");
        }
        if (worldSize == 1) {
            return Optional.empty();
        }
        if ("1".equals(environment.get("NCCL_P2P_DISABLE"))) {
            return Optional.of("NCCL_P2P_DISABLE is 1");
        }
        return Optional.ofNullable(environment.get("NCCL_LSA_TEAM_SIZE"))
                .map(size -> "NCCL_LSA_TEAM_SIZE is " + size + ", so the ranks are several teams");
    }
}
