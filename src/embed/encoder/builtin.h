/* builtin.h - the encoder's file in the binary; tools/embed-file writes the source of it. */
#pragma once

extern const char encoder_bytes[], encoder_bytes_end[];
