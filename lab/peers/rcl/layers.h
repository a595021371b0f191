/* The trace points of a talker or listener, if the laboratory asks for them (FEROS_LAB_LAYERS=1). */
#ifndef FEROS_LAB_RCL_LAYERS_H
#define FEROS_LAB_RCL_LAYERS_H

#include "../contract.h"

/* Whether points are recorded; otherwise nothing else of this file is called for a message. */
extern bool layers_are_on;

/* Starts the program anew with the preloaded library, if the arguments request layers and it is not loaded; then makes the memory. */
void layers_init(const struct contract *c, char **argv);
/* After rcl_publish: `at` is the time of the stamp, `after` that of the return. */
void layers_note_published(uint64_t number, uint64_t at, uint64_t after);
/* In the callback: `writer` and `sequence` are those of the message's information, `found` is when rcl_wait returned. */
void layers_note_received(uint64_t number, const uint8_t *writer, uint64_t sequence, uint64_t found, uint64_t now);
/* Reports all points. */
void layers_write(const struct contract *c);

#endif
