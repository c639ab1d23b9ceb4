// SPDX-License-Identifier: MIT
//
// The emulated device for a driver that matches device trees: PRP0001 stands for
// "see compatible", whose value emulate.sh puts in. Addresses are those of
// runtime/emulator/device/qemu.hpp and platform.hpp.
DefinitionBlock ("", "SSDT", 2, "NVDLA", "EMULATOR", 1)
{
    Scope (\_SB)
    {
        Device (DLA0)
        {
            Name (_HID, "PRP0001")
            Name (_UID, Zero)
            Name (_CCA, One)
            Name (_CRS, ResourceTemplate ()
            {
                Memory32Fixed (ReadWrite, 0xFED20000, 0x00020000)
                Interrupt (ResourceConsumer, Level, ActiveHigh, Exclusive) { 17 }
            })
            Name (_DSD, Package ()
            {
                ToUUID ("daffd814-6eba-4d8c-8a91-bc9bbf4aa301"),
                Package ()
                {
                    Package () { "compatible", "@compatible@" },
                    Package () { "clock-frequency", 500000000 },
                }
            })

#ifndef NO_RESET
            OperationRegion (LINE, SystemMemory, 0xFED40000, 4)
            Field (LINE, DWordAcc, NoLock, Preserve)
            {
                RST, 1
            }

            Method (_RST, 0, Serialized)
            {
                RST = One
                RST = Zero
            }
#endif
        }
    }
}
