/* adapters.h - the adapter of rememberd, the file rememberd.json. */
#pragma once

extern const char own_adapter[], own_adapter_end[];
