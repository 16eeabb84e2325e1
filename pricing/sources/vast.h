/* What the lists of Vast.ai's offers share: its own and SkyPilot's copy of it. */
#ifndef GPUTIER_VAST_H
#define GPUTIER_VAST_H

/* The country behind the last comma ("Guangxi, CN", ", CA"), lower case; "any" for none. */
const char *vast_region(const char *place, char out[64]);

#endif
