/* crash -- places where a test may end the process as a power cut would.
 *
 * VIGIL_CRASH_POINT=after_commit ends the process the first time it comes by that place,
 * after_commit:7 the seventh time.  The variable is looked at once; without it a crash
 * point costs one comparison.  Compiled in always: what is tested is what is shipped.
 */
#pragma once

#define CRASH_POINT(name) crash_point(name)

void crash_point(const char *name);
